import { describe, expect, it } from 'vitest';
import { CARD, inputWith, OTHER_CARD, SEPA_IBAN } from '../contract/inputs.fixture.js';
import { cards, errorsOf, itAccepts, itRefuses, payout, type Refused } from './refusals.fixture.js';

const malformed = [
  '1e21',
  '1E5',
  '0x10',
  '1_000',
  ' 12 ',
  '',
  ',',
  '1,5',
  '1.000,00',
  '+5',
  '.5',
  '5.',
  '٣',
  '１２',
  '007',
];

const AMOUNTS: Refused[] = [
  ...['0', '0.00'].map(
    (amount): Refused => [1, amount, 'deposit', inputWith('deposit', { amount }), 'order.amount', '> 0'],
  ),
  [2, 'negative', 'withdraw', inputWith('withdraw', { amount: '-0.01' }), 'order.amount', 'must be > 0'],
  ...[0, -1, -0, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 9007199254740993n].map(
    (amount): Refused => [
      3,
      `number ${amount}`,
      'exchange',
      inputWith('exchange', { amount }),
      'order.amount',
      'strings',
    ],
  ),
  ...malformed.map(
    (amount): Refused => [4, `"${amount}"`, 'withdraw', inputWith('withdraw', { amount }), 'order.amount', /./],
  ),
  [9, '400 digits', 'deposit', inputWith('deposit', { amount: '9'.repeat(400) }), 'order.amount', '40 characters'],
  ...[null, true, [], {}, 'abc'].map(
    (amount): Refused => [
      11,
      String(JSON.stringify(amount)),
      'deposit',
      inputWith('deposit', { amount }),
      'order.amount',
      /./,
    ],
  ),
  [
    12,
    'both',
    'exchange_withdraw',
    inputWith('exchange_withdraw', { amount: '1' }),
    'order.amount',
    'exactly one of amount, amount_to',
  ],
  [
    13,
    'neither',
    'deposit_exchange_withdraw',
    inputWith('deposit_exchange_withdraw', { amount: undefined }),
    'order.amount',
    'exactly one',
  ],
  [13, 'missing', 'withdraw', inputWith('withdraw', { amount: undefined }), 'order.amount', 'required'],
  ...(['deposit', 'deposit_exchange', 'exchange', 'withdraw'] as const).map(
    (type): Refused => [14, type, type, inputWith(type, { amount_to: '1' }), 'order.amount_to', 'unknown field'],
  ),
];

const IDS: Refused[] = [
  ...['', '   ', undefined].map(
    (id): Refused => [16, `"${id}"`, 'deposit', inputWith('deposit', { order_id: id }), 'order.order_id', 'required'],
  ),
  ...['x'.repeat(121), 'x'.repeat(10_000), 'a\0', 'a\n', 'a\r\n', 'a\tb', '../../x', '%2e%2e', 'a/b', 'ключ'].map(
    (id): Refused => [
      17,
      id.slice(0, 12),
      'deposit',
      inputWith('deposit', { order_id: id }),
      'order.order_id',
      '1 to 120',
    ],
  ),
  [18, 'follow-up ending', 'deposit', inputWith('deposit', { order_id: 'pay-1.r1' }), 'order.order_id', 'follow-ups'],
  ...['__proto__', 'constructor', '..'].map(
    (id): Refused => [
      20,
      id,
      'deposit',
      inputWith('deposit', { order_id: id }),
      'order.order_id',
      'meaning of its own',
    ],
  ),
  [22, 'a card', 'withdraw', inputWith('withdraw', { order_id: OTHER_CARD }), 'order.order_id', 'a card number'],
  [22, 'own card', 'withdraw', inputWith('withdraw', { order_id: `pay-${CARD}` }), 'order.order_id', 'own wallet'],
  [
    22,
    'own card, dashed',
    'withdraw',
    inputWith('withdraw', { order_id: '4111-1111-1111-1111' }),
    'order.order_id',
    'own wallet',
  ],
  [
    22,
    'own IBAN',
    'withdraw',
    { order: { ...payout('sepa', SEPA_IBAN).order, order_id: SEPA_IBAN } },
    'order.order_id',
    'own wallet',
  ],
  [22, 'one of the cards', 'withdraw', cards({ order_id: `x${OTHER_CARD}` }), 'order.order_id', 'own wallet'],
  [22, 'card in the batch id', 'withdraw', inputWith('withdraw', {}, { batchId: CARD }), 'batchId', 'own wallet'],
];

describe('amounts are refused', () => {
  itRefuses(AMOUNTS);
});

describe('order ids are refused', () => {
  itRefuses(IDS);
});

describe('amounts and order ids are accepted', () => {
  itAccepts([
    [6, '18 decimals', 'exchange', inputWith('exchange', { amount: '0.123456789012345678' })],
    [9, '40 characters', 'deposit', inputWith('deposit', { amount: '9'.repeat(40) })],
    [18, 'the longest id', 'deposit', inputWith('deposit', { order_id: 'x'.repeat(120) })],
    [
      22,
      'digits like a card number behind a letter',
      'withdraw',
      inputWith('withdraw', { order_id: `o${OTHER_CARD}` }),
    ],
    [
      22,
      'a short wallet inside the id',
      'withdraw',
      { order: { ...payout('bank', 'acc-1').order, order_id: 'acc-1-x' } },
    ],
    [22, 'a filler beside cards', 'withdraw', cards({ wallet: 'multiple_cards', order_id: 'multiple_cards-1' })],
  ]);
});

describe('follow-ups', () => {
  const withId = (order_id: string) => inputWith('withdraw', { order_id });

  it.each(['pay-1.r1', `${'x'.repeat(120)}.r9999`, 'pay-1.r2.r1'])('may be called %s', (id) => {
    expect(errorsOf('withdraw', withId(id), { followUp: true })).toEqual([]);
  });

  it.each(['pay-1', `${'x'.repeat(121)}.r1`, '.r1', 'a b.r1', ''])('may not be called "%s"', (id) => {
    expect(errorsOf('withdraw', withId(id), { followUp: true })).toHaveLength(1);
  });
});
