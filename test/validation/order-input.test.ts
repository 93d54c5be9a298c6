import { describe, expect, it } from 'vitest';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { CARD, inputOf, inputWith, TRON } from '../contract/inputs.fixture.js';
import { type Accepted, errorsOf, fieldsOf, itAccepts, itRefuses, type Refused, SEPA } from './refusals.fixture.js';

const OTHERS: Refused[] = [
  ...[-1, 1.5, '5', Number.NaN, 10 ** 9, 43_201].map(
    (delay): Refused => [
      47,
      String(delay),
      'withdraw',
      inputWith('withdraw', { delay_order_for_minutes: delay }),
      'order.delay_order_for_minutes',
      /./,
    ],
  ),
  ...(['deposit', 'deposit_exchange', 'deposit_exchange_withdraw', 'exchange'] as const).map(
    (type): Refused => [
      48,
      type,
      type,
      inputWith(type, { delay_order_for_minutes: 1 }),
      'order.delay_order_for_minutes',
      'unknown field',
    ],
  ),
  ...['http://127.0.0.1/', 'https://example.com/ok', 'file:///etc/passwd'].map(
    (callback_url): Refused => [
      49,
      callback_url,
      'deposit',
      inputWith('deposit', { callback_url }),
      'order.callback_url',
      'the worker makes',
    ],
  ),
  ...['x'.repeat(256), 'x'.repeat(1_000_000), 'a\u0007', 'a\nb', 5].map(
    (description): Refused => [
      50,
      String(description).slice(0, 5),
      'deposit',
      inputWith('deposit', { description }),
      'order.description',
      /./,
    ],
  ),
  [
    50,
    'own card',
    'withdraw',
    inputWith('withdraw', { description: 'to 4111 1111 1111 1111' }),
    'order.description',
    'own wallet',
  ],
  [
    50,
    'own e-mail',
    'deposit',
    inputWith('deposit', { description: 'for Jane@Example.com', client_info: { client_email: 'jane@example.com' } }),
    'order.description',
    'e-mail',
  ],
  [
    51,
    'ip',
    'deposit',
    inputWith('deposit', { client_info: { client_ip: '999.1.1.1' } }),
    'order.client_info.client_ip',
    'IP',
  ],
  [
    51,
    'email',
    'deposit',
    inputWith('deposit', { client_info: { client_email: 'x' } }),
    'order.client_info.client_email',
    'e-mail',
  ],
  [51, 'extra', 'deposit', inputWith('deposit', { client_info: { phone: '1' } }), 'order.client_info.phone', 'unknown'],
  ...['ammount', 'orderId', 'amount '].map(
    (key): Refused => [52, key, 'deposit', inputWith('deposit', { [key]: '1' }), `order.${key}`, 'unknown field'],
  ),
  [52, 'input', 'deposit', { ...inputOf('deposit'), recovered: {} }, 'recovered', 'unknown field'],
  [
    52,
    '__proto__',
    'deposit',
    JSON.parse('{"order":{"order_id":"x","__proto__":{}}}'),
    'order.__proto__',
    'unknown field',
  ],
];

const OPTIONS: Refused[] = [
  [0, 'account', 'deposit', inputWith('deposit', {}, { account: 'A b' }), 'account', 'a-z'],
  [0, 'resend', 'deposit', inputWith('deposit', {}, { resend: 'twice' }), 'resend', 'once'],
  ...['friday', '2026-11-27', '2026-11-27T18:00:00', ''].map(
    (latestSend): Refused => [
      0,
      latestSend,
      'deposit',
      inputWith('deposit', {}, { latestSend }),
      'latestSend',
      'ISO time',
    ],
  ),
  [0, 'batch id', 'deposit', inputWith('deposit', {}, { batchId: 'a b' }), 'batchId', '1 to 120'],
  [0, 'policy', 'exchange', inputWith('exchange', {}, { compensation: 'guess' }), 'compensation', 'report'],
  [0, 'deposit finish', 'deposit', inputWith('deposit', {}, { compensation: 'finish' }), 'compensation', 'deposit'],
  [0, 'deposit revert', 'deposit', inputWith('deposit', {}, { compensation: 'revert' }), 'compensation', 'deposit'],
  ...(['deposit_exchange', 'deposit_exchange_withdraw'] as const).map(
    (type): Refused => [
      0,
      `${type} revert`,
      type,
      inputWith(type, {}, { compensation: 'revert' }),
      'revertTo',
      'refunded',
    ],
  ),
  [
    0,
    'refund network',
    'exchange',
    inputWith('exchange', {}, { revertTo: { wallet: CARD } }),
    'revertTo.network',
    'required',
  ],
  [
    0,
    'refund wallet',
    'exchange',
    inputWith('exchange', {}, { revertTo: { network: 'card', wallet: '1' } }),
    'revertTo.wallet',
    '****',
  ],
  [
    0,
    'refund details',
    'exchange',
    inputWith('exchange', {}, { revertTo: { network: 'bank', wallet: 'a', wallet_details: SEPA } }),
    'revertTo.wallet_details',
    'bank_code',
  ],
  [
    0,
    'refund to cards',
    'exchange',
    inputWith('exchange', {}, { revertTo: { network: 'multiple_cards', wallet: 'a' } }),
    'revertTo.network',
    'one wallet',
  ],
  [
    0,
    'refund extra',
    'exchange',
    inputWith('exchange', {}, { revertTo: { network: 'card', wallet: CARD, x: 1 } }),
    'revertTo.x',
    'unknown',
  ],
];

describe('validateOrderInput refuses', () => {
  itRefuses([...OTHERS, ...OPTIONS]);

  it.each([null, undefined, 'x', 5, true, [], [1], () => 1])('input %s that is no object', (input) => {
    expect(errorsOf('deposit', input)).toEqual([{ field: 'input', reason: 'must be an object' }]);
  });

  it.each(['Withdraw', 'payout', '', null])('row 26: order type %s', (type) => {
    expect(fieldsOf(type as OrderType, inputOf('deposit'))).toEqual(['order_type']);
  });

  it('all bad fields at once, each with one reason', () => {
    const order = { order_id: '', amount: 5, currency: 'USD', network: 'card', wallet: '1', x: 1, callback_url: '' };
    expect(fieldsOf('withdraw', { order, compensation: 'no', revertTo: {} }).sort()).toEqual([
      'compensation',
      'order.amount',
      'order.callback_url',
      'order.currency',
      'order.order_id',
      'order.wallet',
      'order.x',
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

  itAccepts([
    [47, 'delay 0', 'withdraw', inputWith('withdraw', { delay_order_for_minutes: 0 })],
    [47, 'delay of 30 days', 'withdraw', inputWith('withdraw', { delay_order_for_minutes: 43_200 })],
    [50, 'a description', 'deposit', inputWith('deposit', { description: 'Rechnung №5 – danke 👍' })],
    ...['::ffff:1.2.3.4', '2001:db8::1', '10.0.0.1'].map(
      (client_ip): Accepted => [
        51,
        client_ip,
        'deposit',
        inputWith('deposit', { client_info: { client_ip, client_email: 'a.b+c@example.co.uk', client_id: '7' } }),
      ],
    ),
    [
      0,
      'every option',
      'deposit_exchange',
      inputWith(
        'deposit_exchange',
        {},
        {
          account: 'eu-1',
          compensation: 'revert',
          revertTo: { network: 'tron', wallet: TRON, wallet_memo: '' },
          resend: 'never',
          latestSend: '2026-11-27T18:00:00+01:00',
          batchId: 'payroll.2026-11',
        },
      ),
    ],
    ...(['report', 'ask', 'finish', 'revert'] as const).map(
      (compensation): Accepted => [0, compensation, 'withdraw', inputWith('withdraw', {}, { compensation })],
    ),
  ]);
});
