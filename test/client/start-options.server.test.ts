import { describe, expect, it } from 'vitest';
import { orderStartOptions, orderSummary } from '../../src/client/start-options.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { payout } from './client.fixture.js';

const exchangeWithdraw: OrderInput<'exchange_withdraw'> = {
  order: {
    order_id: 'o-1',
    currency_from: 'usd',
    amount_to: '0.001',
    currency_to: 'btc',
    network_to: 'bitcoin',
    wallet: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  },
};

describe('the summary', () => {
  it.each<[OrderType, OrderInput, string]>([
    ['withdraw', payout('o-1'), 'withdraw 12.50 usd'],
    ['exchange_withdraw', exchangeWithdraw, 'exchange_withdraw usd → 0.001 btc'],
    [
      'exchange',
      { order: { order_id: 'o-1', currency_from: 'usd', currency_to: 'btc', amount: '100' } },
      'exchange 100 usd → btc',
    ],
  ])('of %s says what moves', (type, input, summary) => {
    expect(orderSummary(type, input)).toBe(summary);
  });

  it('stays below 200 bytes with the longest fields', () => {
    const input = { order: { ...exchangeWithdraw.order, currency_from: 'x'.repeat(16), currency_to: 'y'.repeat(16) } };
    input.order.amount_to = '1'.repeat(40);
    expect(Buffer.byteLength(orderSummary('deposit_exchange_withdraw', input))).toBeLessThan(200);
  });
});

it('the summary shows no wallet, e-mail or description', () => {
  const input = payout('o-1', 'for erika@example.com');
  input.order.client_info = { client_email: 'erika@example.com' };
  expect(orderStartOptions('withdraw', input).staticSummary).not.toMatch(/4111|erika/);
});

it('an id is used once, and no time limit ends an order', () => {
  const options = orderStartOptions('withdraw', payout('o-1'));
  expect(options.workflowIdReusePolicy).toBe('REJECT_DUPLICATE');
  expect(Object.keys(options).filter((name) => /timeout|retry|cron/i.test(name))).toEqual([]);
});
