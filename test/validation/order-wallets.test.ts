import { describe, expect, it } from 'vitest';
import { BITCOIN, CARD, ETHEREUM, inputWith, SEPA_IBAN, TRON, UA_IBAN } from '../contract/inputs.fixture.js';
import { type Accepted, BANK_UA, fieldsOf, itAccepts, itRefuses, payout, type Refused } from './refusals.fixture.js';

const PLACES: Refused[] = [
  ...['USD', 'usd ', '', 'u', null].map(
    (currency): Refused => [27, `"${currency}"`, 'deposit', inputWith('deposit', { currency }), 'order.currency', /./],
  ),
  [28, 'missing', 'deposit', inputWith('deposit', { network: undefined }), 'order.network', 'required'],
  [28, 'capitals', 'withdraw', inputWith('withdraw', { network: 'CARD' }), 'order.network', 'lowercase'],
  [
    29,
    'exchange into itself',
    'exchange',
    inputWith('exchange', { currency_to: 'usd' }),
    'order.currency_to',
    'differ',
  ],
  [31, 'empty', 'withdraw', payout('monero', ''), 'order.wallet', 'required'],
  [31, 'missing', 'withdraw', inputWith('withdraw', { wallet: undefined }), 'order.wallet', 'required'],
  ...[' ', 'a b', 'a\nb', 'a\u200bb', 'a\u0000b', 'x'.repeat(500)].map(
    (wallet): Refused => [
      31,
      JSON.stringify(wallet).slice(0, 12),
      'withdraw',
      payout('monero', wallet),
      'order.wallet',
      /./,
    ],
  ),
  [32, 'fails Luhn', 'withdraw', inputWith('withdraw', { wallet: '4111111111111112' }), 'order.wallet', '****1112'],
  ...['41111111111', '41111111111111111111', '4111a11111111111', '4111 1111 1111 1111'].map(
    (wallet): Refused => [32, wallet, 'withdraw', inputWith('withdraw', { wallet }), 'order.wallet', '****'],
  ),
  ...['4111111111111111=1225', '4111111111111111123', `${CARD}/12/25`].map(
    (wallet): Refused => [33, wallet, 'withdraw', inputWith('withdraw', { wallet }), 'order.wallet', '****'],
  ),
  [34, 'mod 97', 'withdraw', payout('sepa', 'DE89370400440532013001'), 'order.wallet', '****3001'],
  [34, 'lower case', 'withdraw', payout('sepa', SEPA_IBAN.toLowerCase()), 'order.wallet', 'capital'],
  [34, 'length', 'withdraw', payout('sepa', 'DE8937040044053201300'), 'order.wallet', '22 characters'],
  [34, 'country', 'withdraw', payout('bank_ua', SEPA_IBAN), 'order.wallet', 'country'],
  [34, 'country', 'withdraw', payout('sepa', 'ZZ89370400440532013000'), 'order.wallet', 'country'],
  ...(
    [
      ['bitcoin', ETHEREUM],
      ['bitcoin', `${BITCOIN}q`],
      ['bitcoin', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdb'],
      ['ethereum', ETHEREUM.slice(0, -1)],
      ['ethereum', TRON],
      ['ethereum', ETHEREUM.slice(2)],
      ['tron', BITCOIN],
      ['tron', `${TRON}1`],
      ['tron', TRON.replace('J', '0')],
    ] as const
  ).map(
    ([network, wallet]): Refused => [
      35,
      `${network} ${wallet}`,
      'withdraw',
      payout(network, wallet),
      'order.wallet',
      'not an address',
    ],
  ),
  [36, 'control characters', 'withdraw', inputWith('withdraw', { wallet_memo: '1\n' }), 'order.wallet_memo', 'control'],
  [36, 'number', 'withdraw', inputWith('withdraw', { wallet_memo: 12 }), 'order.wallet_memo', 'string'],
];

describe('currencies, networks and wallets are refused', () => {
  itRefuses(PLACES);

  it('by the network alone when no wallet can be judged by it', () => {
    expect(fieldsOf('withdraw', payout('CARD', 'whatever'))).toEqual(['order.network']);
  });
});

describe('wallets are accepted', () => {
  itAccepts([
    [31, 'unknown networks', 'withdraw', payout('monero', `4${'A'.repeat(94)}`)],
    [34, 'IBAN of one country', 'withdraw', payout('bank_ua', UA_IBAN, BANK_UA)],
    [34, 'IBAN without details', 'withdraw', payout('sepa', SEPA_IBAN)],
    ...[
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      BITCOIN,
      BITCOIN.toUpperCase(),
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ].map((wallet): Accepted => [35, wallet, 'withdraw', payout('bitcoin', wallet)]),
    [35, 'ethereum', 'withdraw', payout('ethereum', ETHEREUM.toLowerCase())],
    [35, 'tron', 'withdraw', payout('tron', TRON)],
    ...[null, '', 'm'.repeat(1024), '107-42'].map(
      (wallet_memo): Accepted => [
        36,
        `memo ${wallet_memo?.slice(0, 6)}`,
        'withdraw',
        inputWith('withdraw', { wallet_memo }),
      ],
    ),
  ]);
});
