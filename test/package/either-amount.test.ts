import { expect, test } from 'vitest';
import type { OrderInput } from '../../src/index.js';
import { validateOrderInput } from '../../src/validation/order-input.js';

const order = {
  order_id: 'either-1',
  currency_from: 'usd',
  currency_to: 'usdt',
  network_to: 'tron',
  wallet: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj',
};

const one: OrderInput<'exchange_withdraw'>[] = [
  { order: { ...order, amount: '1' } },
  { order: { ...order, amount_to: '1' } },
];

const bothOrNeither: OrderInput<'exchange_withdraw'>[] = [
  // @ts-expect-error -- Both: refused by the compiler, too.
  { order: { ...order, amount: '1', amount_to: '1' } },
  // @ts-expect-error -- Neither.
  { order },
];

test('an exchange with payout has exactly one of amount and amount_to, by type and when checked', () => {
  for (const input of one) expect(validateOrderInput('exchange_withdraw', input)).toEqual({ input });
  for (const input of bothOrNeither) {
    expect(validateOrderInput('exchange_withdraw', input)).toEqual({
      errors: [{ field: 'order.amount', reason: 'exactly one of amount, amount_to' }],
    });
  }
});
