import { describe, expect, it } from 'vitest';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { CARD, inputOf, inputWith, TRON } from '../contract/inputs.fixture.js';
import { accepts, errorsOf, fieldsOf, refuses, SEPA } from './refusals.fixture.js';

const withOptions = (type: OrderType, options: Record<string, unknown>) => inputWith(type, {}, options);

describe('options are refused', () => {
  const ofDeposit: [Record<string, unknown>, string, string][] = [
    [{ account: 'A b' }, 'account', 'a-z'],
    ...['friday', '2026-11-27', '2026-11-27T18:00:00', ''].map(
      (latestSend): [Record<string, unknown>, string, string] => [{ latestSend }, 'latestSend', 'ISO time'],
    ),
    [{ batchId: 'a b' }, 'batchId', '1 to 120'],
    [{ compensation: 'finish' }, 'compensation', 'deposit'],
    [{ recovered: {} }, 'recovered', 'unknown field'],
  ];
  for (const [options, field, reason] of ofDeposit)
    refuses(0, 'deposit', withOptions('deposit', options), field, reason);
  refuses(0, 'exchange', withOptions('exchange', { compensation: 'guess' }), 'compensation', 'report');
  for (const type of ['deposit_exchange', 'deposit_exchange_withdraw'] as const)
    refuses(0, type, withOptions(type, { compensation: 'revert' }), 'revertTo', 'refunded');
  const refunds: [Record<string, unknown>, string, string][] = [
    [{ wallet: CARD }, 'network', 'required'],
    [{ network: 'card', wallet: '1' }, 'wallet', '****'],
    [{ network: 'bank', wallet: 'a', wallet_details: SEPA }, 'wallet_details', 'bank_code'],
    [{ network: 'multiple_cards', wallet: 'a' }, 'network', 'one wallet'],
    [{ network: 'card', wallet: CARD, x: 1 }, 'x', 'unknown'],
  ];
  for (const [revertTo, field, reason] of refunds)
    refuses(0, 'exchange', withOptions('exchange', { revertTo }), `revertTo.${field}`, reason);
});

describe('validateOrderInput refuses', () => {
  it.each([null, 'x', [1]])('input %s that is no object', (input) => {
    expect(errorsOf('deposit', input)).toEqual([{ field: 'input', reason: 'must be an object' }]);
  });

  it('all bad fields at once, each with one reason', () => {
    const order = { order_id: '', amount: 5, currency: 'USD', network: 'card', wallet: '1', x: 1, callback_url: '' };
    const ofOrder = ['amount', 'callback_url', 'currency', 'order_id', 'wallet', 'x'].map((name) => `order.${name}`);
    expect(fieldsOf('withdraw', { order, compensation: 'no', revertTo: {} }).sort()).toEqual([
      'compensation',
      ...ofOrder,
      'revertTo.network',
      'revertTo.wallet',
    ]);
  });

  it('a bounded number of errors, however much garbage there is', () => {
    const garbage = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n]));
    const errors = errorsOf('deposit', garbage);
    expect(errors).toHaveLength(201);
    expect(errors.at(-1)?.reason).toMatch(/^and \d+ more$/);
  });

  it('a card number used as the name of a field or network without repeating it', () => {
    const input = inputWith('withdraw', { [CARD]: 1, 'jane@example.com': 1, network: CARD, wallet: 'card' });
    expect(JSON.stringify(errorsOf('withdraw', input))).not.toMatch(/4111111|jane/);
  });
});

describe('validateOrderInput accepts', () => {
  it.each(ORDER_TYPES)('a plain %s and gives it back', (type) => {
    expect(validateOrderInput(type, inputOf(type))).toEqual({ input: inputOf(type) });
  });

  const everyOption = {
    account: 'eu-1',
    compensation: 'revert',
    revertTo: { network: 'tron', wallet: TRON, wallet_memo: '' },
    resend: 'never',
    latestSend: '2026-11-27T18:00:00+01:00',
    batchId: 'payroll.2026-11',
  };
  accepts(0, 'deposit_exchange', withOptions('deposit_exchange', everyOption));
  const policies = ['report', 'ask', 'finish', 'revert'];
  accepts(0, 'withdraw', ...policies.map((compensation) => withOptions('withdraw', { compensation })));
});
