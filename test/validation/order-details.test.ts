import { describe } from 'vitest';
import { CARD, CARDS_REQUEST, inputWith, SEPA_IBAN, TRON, UA_IBAN } from '../contract/inputs.fixture.js';
import { BANK_UA, cards, itAccepts, itRefuses, payout, type Refused, SEPA } from './refusals.fixture.js';

const DETAILS: Refused[] = [
  ...(
    [
      ['bank', 'acc', 'bank_code'],
      ['bank_ua', UA_IBAN, 'recipient_bank'],
      ['card', CARD, 'none'],
      ['tron', TRON, 'none'],
    ] as const
  ).map(
    ([network, wallet, needs]): Refused => [
      37,
      network,
      'withdraw',
      payout(network, wallet, SEPA),
      'order.wallet_details',
      `does not fit network ${network}: needs ${needs}`,
    ],
  ),
  [37, 'a list', 'withdraw', payout('sepa', SEPA_IBAN, [SEPA]), 'order.wallet_details', 'does not fit'],
  [38, 'number', 'withdraw', payout('bank', 'acc', { bank_code: 12 }), 'order.wallet_details.bank_code', 'string'],
  [38, 'missing', 'withdraw', payout('bank', 'acc', {}), 'order.wallet_details.bank_code', 'required'],
  [38, 'extra', 'withdraw', payout('bank', 'acc', { bank_code: '1', x: 1 }), 'order.wallet_details.x', 'unknown'],
  ...['1234567', '12345678901', 'AB123456'].map(
    (taxpayer_number): Refused => [
      39,
      taxpayer_number,
      'withdraw',
      payout('bank_ua', UA_IBAN, { ...BANK_UA, taxpayer_number }),
      'order.wallet_details.taxpayer_number',
      'digits',
    ],
  ),
  ...['', '  ', 'x'.repeat(300), 'a\r\nb'].map(
    (name): Refused => [
      39,
      name.slice(0, 5),
      'withdraw',
      payout('bank_ua', UA_IBAN, { ...BANK_UA, recipient_name: name }),
      'order.wallet_details.recipient_name',
      /./,
    ],
  ),
  ...['jane', '@', 'a@b', 'a@b.c\r\nBcc: x@y.z', `${'a'.repeat(320)}@b.cd`].map(
    (recipient_email): Refused => [
      40,
      recipient_email.slice(0, 8),
      'withdraw',
      payout('sepa', SEPA_IBAN, { ...SEPA, recipient_email }),
      'order.wallet_details.recipient_email',
      'e-mail',
    ],
  ),
  [41, 'sum', 'withdraw', cards({ amount: '0.30000000000000004' }), 'order.wallet_details', 'add up to amount'],
  [42, 'empty', 'withdraw', cards({ wallet_details: [] }), 'order.wallet_details', '1 to 100'],
  [42, 'object', 'withdraw', cards({ wallet_details: { 0: 1 } }), 'order.wallet_details', 'list'],
  [42, 'missing', 'withdraw', cards({ wallet_details: undefined }), 'order.wallet_details', 'list'],
  [42, 'too many', 'withdraw', cards({ wallet_details: Array(101).fill({}) }), 'order.wallet_details', '1 to 100'],
  ...[0.1, '0', '-1', '1e1'].map(
    (amount): Refused => [
      43,
      `amount ${amount}`,
      'withdraw',
      cards({
        wallet_details: [...[1, 2, 3].map((n) => ({ amount: `${n}`, wallet: `${n}` })), { amount, wallet: CARD }],
      }),
      'order.wallet_details[3].amount',
      /./,
    ],
  ),
  [
    43,
    'Luhn',
    'withdraw',
    cards({ wallet_details: [{ amount: '0.3', wallet: '4111111111111112' }] }),
    'order.wallet_details[0].wallet',
    '****1112',
  ],
  [
    44,
    'same card twice',
    'withdraw',
    cards({
      wallet_details: [
        { amount: '0.1', wallet: CARD },
        { amount: '0.2', wallet: CARD },
      ],
    }),
    'order.wallet_details[1].wallet',
    'same card',
  ],
  [
    45,
    'amount_to',
    'exchange_withdraw',
    inputWith('exchange_withdraw', {
      amount_to: '0.4',
      currency_to: 'usd',
      network_to: 'multiple_cards',
      wallet: '-',
      wallet_details: CARDS_REQUEST.wallet_details,
    }),
    'order.wallet_details',
    'add up to amount_to',
  ],
];

describe('wallet details are refused', () => {
  itRefuses(DETAILS);
});

describe('wallet details are accepted', () => {
  itAccepts([
    [37, 'null details', 'withdraw', inputWith('withdraw', { wallet_details: null })],
    [38, 'bank', 'withdraw', payout('bank', 'acc', { bank_code: '044' })],
    [40, 'sepa', 'withdraw', payout('sepa', SEPA_IBAN, SEPA)],
    [41, 'exact sums', 'withdraw', cards({})],
    [
      41,
      'other currency',
      'exchange_withdraw',
      inputWith('exchange_withdraw', {
        amount: '100',
        amount_to: undefined,
        network_to: 'multiple_cards',
        wallet: '-',
        wallet_details: CARDS_REQUEST.wallet_details,
      }),
    ],
  ]);
});
