import { describe, expect, it } from 'vitest';
import { echoDifferences, shownDifferences } from '../../../src/contract/differences/echo.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import { ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import type { Order } from '../../../src/contract/service-objects.js';
import {
  BITCOIN,
  CARD,
  CARDS_REQUEST,
  ETHEREUM,
  OTHER_CARD,
  orderFor,
  REQUESTS,
  SEPA_IBAN,
  TRON,
} from '../inputs.fixture.js';

const echo = (type: OrderType, changes: Partial<Order>, request: CreateRequests[OrderType] = REQUESTS[type]) =>
  echoDifferences(type, request, orderFor(type, request, changes));

const differences = (...args: Parameters<typeof echo>) => echo(...args).hard;

const SAME = { hard: [], soft: [] };
const soft = (...fields: string[]) => ({ hard: [], soft: fields });

describe('echoDifferences', () => {
  it.each(ORDER_TYPES)('takes the documented order of a %s for ours', (type) => {
    expect(echo(type, {})).toEqual(SAME);
  });

  it.each(ORDER_TYPES)('names type and id of a foreign %s', (type) => {
    expect(differences(type, { order_type: 'other', user_order_id: 'x' })).toEqual(['order_type', 'order_id']);
  });

  const foreign: [OrderType, Partial<Order>, string][] = [
    ['deposit', { currency_from: 'eur' }, 'currency'],
    ['deposit', { expected_amount_from: '100.01' }, 'amount'],
    ['deposit_exchange', { currency_to: 'eur' }, 'currency_to'],
    ['deposit_exchange_withdraw', { network_to: 'bank' }, 'network_to'],
    ['deposit_exchange_withdraw', { wallet_to: OTHER_CARD }, 'wallet'],
    ['deposit_exchange_withdraw', { strict_withdrawal_amount: true, expected_amount_from: '0.02' }, 'amount'],
    ['exchange_withdraw', { expected_amount_to: '0.51' }, 'amount_to'],
    ['exchange_withdraw', { strict_withdrawal_amount: false, expected_amount_to: '0.6' }, 'amount_to'],
    ['exchange_withdraw', { wallet_to_details: { bank_code: '1' } }, 'wallet_details'],
    ['withdraw', { wallet_to: BITCOIN }, 'wallet'],
    ['withdraw', { expected_amount_from: '25.51', expected_amount_to: '25.49' }, 'amount'],
  ];
  it.each(foreign)('finds a foreign %s by %o', (type, changes, field) => {
    expect(differences(type, changes)).toEqual([field]);
  });

  const ours: [OrderType, Partial<Order>][] = [
    ['deposit', { expected_amount_from: '100.0000', amount_from: '99', network_to: null }],
    ['exchange_withdraw', { expected_amount_to: '0.500', expected_amount_from: '1' }],
    ['exchange_withdraw', { wallet_to: ETHEREUM.toLowerCase() }],
    ['exchange_withdraw', { wallet_memo_to: '', wallet_to_details: {} }],
    ['withdraw', { expected_amount_from: '26', expected_amount_to: '25.5' }],
    ['withdraw', { expected_amount_from: '25.5', expected_amount_to: '25', network_from: 'card' }],
    ['withdraw', { wallet_to: '4111 1111-1111 1111' }],
  ];
  it.each(ours)('takes a %s with %o for ours', (type, changes) => {
    expect(echo(type, changes)).toEqual(SAME);
  });

  it.each(['555555******4444', '411111******1112', '4111111111111111*1111111', '411112*1111', '41*2*11'])(
    'compares a masked card %s on what is visible',
    (wallet_to) => {
      expect(differences('withdraw', { wallet_to })).toEqual(['wallet']);
    },
  );

  it('compares details whatever the order of their keys, masked values on what is visible', () => {
    const wallet_details = { recipient_email: 'jane@example.com', recipient_name: 'Jane' };
    const request = { ...REQUESTS.withdraw, network: 'sepa', wallet: SEPA_IBAN, wallet_details };
    const shown = (wallet_to_details: unknown) => echo('withdraw', { wallet_to_details }, request);
    expect(shown({ recipient_name: 'Jane', recipient_email: 'jane@example.com', bank_code: null })).toEqual(SAME);
    for (const form of [
      { recipient_name: 'Jane', recipient_email: 'j***@example.com' },
      { recipient_name: ' JANE', recipient_email: 'jane@example.com' },
      { ...wallet_details, iban: 'x' },
      { recipient_name: 'Jane' },
      JSON.stringify(wallet_details),
      null,
      {},
    ]) {
      expect(shown(form)).toEqual(soft('wallet_details'));
    }
    for (const other of [
      { recipient_name: 'John', recipient_email: 'jane@example.com' },
      { recipient_name: 'Jane', recipient_email: 'k***@example.com' },
      JSON.stringify({ ...wallet_details, recipient_name: 'John' }),
      '{"recipient_name":',
      '****',
      [wallet_details],
    ]) {
      expect(shown(other).hard).toEqual(['wallet_details']);
    }
  });

  it('compares the amounts of cards numerically', () => {
    const shown = (first: unknown, second: unknown) => {
      const parts = [
        { wallet: '411111******1111', amount: first },
        { wallet: OTHER_CARD, amount: second },
      ];
      return differences('withdraw', { wallet_to_details: parts }, CARDS_REQUEST);
    };
    expect(shown('0.10', 0.2)).toEqual([]);
    expect(shown('0.2', '0.1')).toEqual(['wallet_details']);
    expect(shown('0.1', '*')).toEqual(['wallet_details']);
    expect(differences('withdraw', { wallet_to_details: [{ wallet: CARD, amount: '0.1' }] }, CARDS_REQUEST)).toEqual([
      'wallet_details',
    ]);
  });
});

describe('soft differences: our order in another form', () => {
  const IBAN_REQUEST = { ...REQUESTS.withdraw, network: 'sepa', wallet: SEPA_IBAN };
  const BITCOIN_REQUEST = { ...REQUESTS.withdraw, network: 'bitcoin', wallet: BITCOIN };

  const MASKED: [request: CreateRequests['withdraw'], wallets: string[]][] = [
    [REQUESTS.withdraw, ['411111XXXXXX1111', '411111••••••1111', '****1111', '4111 11XX XXXX 1111']],
    [IBAN_REQUEST, ['DE89XXXXXXXXXXXXXX3000', 'DE89 **** **** **** **30 00', 'de89**************3000']],
    ...[BITCOIN, BITCOIN.toUpperCase()].map((wallet): [CreateRequests['withdraw'], string[]] => [
      { ...BITCOIN_REQUEST, wallet },
      ['bc1qar****5mdq', 'BC1QAR****5MDQ', 'bc1qarXXXX5mdq'],
    ]),
  ];
  it.each(MASKED.flatMap(([request, wallets]) => wallets.map((wallet) => [request.network, wallet, request] as const)))(
    'a %s wallet shown as %s',
    (_, wallet_to, request) => {
      expect(echo('withdraw', { wallet_to }, request)).toEqual(soft('wallet'));
    },
  );

  it('base58 and unknown networks are left as they are', () => {
    const monero = { ...REQUESTS.withdraw, network: 'monero', wallet: '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx' };
    const tron = { ...REQUESTS.withdraw, network: 'tron', wallet: TRON };
    for (const request of [monero, tron]) {
      expect(echo('withdraw', { wallet_to: request.wallet.toLowerCase() }, request).hard).toEqual(['wallet']);
      expect(echo('withdraw', { wallet_to: ` ${request.wallet}` }, request)).toEqual(soft('wallet'));
    }
  });

  it.each(['****', 'XXXXXXXXXXXXXXXX', null, '', '**1'])(
    'a wallet that is not shown (%s), where everything else agrees',
    (wallet_to) => {
      expect(echo('withdraw', { wallet_to })).toEqual(soft('wallet'));
      const two = echo('withdraw', { wallet_to, expected_amount_from: 'n/a', expected_amount_to: 'n/a' });
      expect(two).toEqual({ hard: ['wallet', 'amount'], soft: [] });
      const other = echo('withdraw', { wallet_to, expected_amount_from: '99', expected_amount_to: '99' });
      expect(other).toEqual({ hard: ['wallet', 'amount'], soft: [] });
    },
  );

  it('an amount that cannot be read, where everything else agrees', () => {
    expect(echo('exchange', { expected_amount_from: 'about 10' })).toEqual(soft('amount'));
    expect(echo('exchange', { expected_amount_from: 'about 10', currency_to: 'eur' }).hard).toContain('amount');
    // One of a payout's two amounts is another one: the unreadable one proves nothing.
    expect(echo('withdraw', { expected_amount_from: '', expected_amount_to: '99' }).hard).toEqual(['amount']);
  });

  it('no wallet and no details for several cards hide who is paid: only one of them is soft', () => {
    expect(echo('withdraw', { wallet_to: null }, CARDS_REQUEST)).toEqual(soft('wallet'));
    expect(echo('withdraw', { wallet_to_details: null }, CARDS_REQUEST)).toEqual(soft('wallet_details'));
    const request = { ...CARDS_REQUEST, network: 'card', wallet: CARD };
    expect(echo('withdraw', { wallet_to: null, wallet_to_details: null }, request).hard).toEqual([
      'wallet',
      'wallet_details',
    ]);
  });

  it('a deposit whose expected amount carries its commission on top, exactly', () => {
    const fee = { amount_from_fee: '2.50' };
    for (const type of ['deposit', 'deposit_exchange', 'deposit_exchange_withdraw'] as const) {
      const request = { ...REQUESTS[type], amount: '100' } as CreateRequests[OrderType];
      expect(echo(type, { ...fee, expected_amount_from: '102.5' }, request)).toEqual(soft('amount'));
      for (const from of ['102.49', '102.51', '97.5', '105']) {
        expect(echo(type, { ...fee, expected_amount_from: from }, request).hard).toEqual(['amount']);
      }
    }
    expect(echo('exchange', { ...fee, expected_amount_from: '12.5' }).hard).toEqual(['amount']);
    expect(echo('withdraw', { ...fee, expected_amount_from: '28', expected_amount_to: '28' }).hard).toEqual(['amount']);
  });

  const rounded = (amount: string, shown: string, precision: number) =>
    echo(
      'exchange',
      { expected_amount_from: shown, currency_from_precision: precision },
      { ...REQUESTS.exchange, amount },
    );
  it.each([
    ['12.55', '12.5', 1],
    ['12.55', '13', 0],
  ])('%s rounded to %s at %i places', (amount, shown, precision) => {
    expect(rounded(amount, shown, precision)).toEqual(soft('amount'));
  });

  it.each([
    ['12.50', '12.51', 2],
    ['0.004', '0', 2],
    ['12.55', '12', 400],
  ])('%s is not %s at %i places', (amount, shown, precision) => {
    expect(rounded(amount, shown, precision)).toEqual({ hard: ['amount'], soft: [] });
  });

  it('an amount asked for exactly though the order says otherwise, and the other way round', () => {
    expect(echo('exchange_withdraw', { strict_withdrawal_amount: false })).toEqual(soft('amount_to'));
    expect(echo('deposit_exchange_withdraw', { strict_withdrawal_amount: true })).toEqual(soft('amount'));
  });

  it('a memo is somebody: masked it may be ours, in other letters it is another one', () => {
    const request = { ...REQUESTS.withdraw, wallet_memo: 'AbcD-1234' };
    const memo = (wallet_memo_to: string | null) => echo('withdraw', { wallet_memo_to }, request);
    expect(memo('****1234')).toEqual(soft('wallet_memo'));
    expect(memo(' AbcD-1234')).toEqual(soft('wallet_memo'));
    expect(memo('abcd-1234').hard).toEqual(['wallet_memo']);
    expect(memo('****1235').hard).toEqual(['wallet_memo']);
  });
});

describe('shownDifferences', () => {
  it('shows both values, wallets masked', () => {
    const order = orderFor('withdraw', REQUESTS.withdraw, {
      wallet_to: OTHER_CARD,
      expected_amount_from: '99',
      wallet_memo_to: '7007',
      currency_to: 'eur',
    });
    const { hard } = echoDifferences('withdraw', REQUESTS.withdraw, order);
    const text = shownDifferences('withdraw', REQUESTS.withdraw, order, hard);
    expect(text).toContain('wallet (asked for ****1111, shown ****4444)');
    expect(text).toContain('wallet_memo (asked for none, shown 7•••)');
    expect(text).toContain('currency (asked for usd, shown eur)');
    expect(shownDifferences('withdraw', REQUESTS.withdraw, order, ['amount'])).toBe(
      'amount (asked for 25.50, shown 99)',
    );
  });
});
