import { describe, expect, it } from 'vitest';
import type { CreateRequest } from '../../src/contract/order/request.js';
import type { OrderType } from '../../src/contract/order/types.js';
import type { RateEntry, Rates } from '../../src/contract/service-objects.js';
import { checkAgainstRates } from '../../src/validation/rate-checks.js';
import { ETHEREUM, OTHER_CARD, REQUESTS, TRON } from '../contract/inputs.fixture.js';

const FEES = ['fixed_fee_amount', 'fee_percent', 'min_fee_amount'].flatMap((fee) => [`${fee}_from`, `${fee}_to`]);
const NONE = ['exchange_rate', 'fee_percent_from_payer', 'fee_percent_to_payer', ...FEES];

const entry = (fields: Partial<RateEntry>): RateEntry => ({
  ...(Object.fromEntries(NONE.map((field) => [field, null])) as unknown as RateEntry),
  order_type: 'withdraw',
  currency_from: 'usd',
  network_from: null,
  currency_to: 'usd',
  network_to: null,
  min_amount_from: '10',
  max_amount_from: '1000',
  currency_from_precision: 2,
  currency_to_precision: 2,
  ...fields,
});

const usdCard = entry({ network_to: 'card' });
const usdToEth = entry({ currency_to: 'eth', network_to: 'ethereum', currency_to_precision: 18 });
const RATES: Rates = {
  deposit: { usd_card: entry({ network_from: 'card' }) },
  exchange: { 'usd-btc': entry({ currency_to: 'btc', currency_to_precision: 8 }) },
  exchange_withdraw: { 'usd-eth_ethereum': usdToEth },
  withdraw: {
    usd_card: usdCard,
    usd_multiple_cards: entry({ network_to: 'multiple_cards', min_amount_from: '0.1' }),
    trx_tron: entry({ currency_from: 'trx', currency_to: 'trx', network_to: 'tron' }),
  },
};

const check = (type: OrderType, changes: object = {}, rates: Rates = RATES) =>
  checkAgainstRates(type, { ...REQUESTS[type], ...changes } as CreateRequest, rates);
const withEntry = (changes: Partial<RateEntry>): Rates => ({ withdraw: { usd_card: { ...usdCard, ...changes } } });

describe('checkAgainstRates', () => {
  it.each<OrderType>(['deposit', 'exchange', 'exchange_withdraw', 'withdraw'])(
    'finds nothing wrong with a %s that fits',
    (type) => {
      expect(check(type)).toEqual([]);
    },
  );

  it.each<[number, OrderType, object, string, string]>([
    [27, 'withdraw', { currency: 'zzz' }, 'order.currency', 'zzz_card'],
    [30, 'withdraw', { network: 'tron', wallet: TRON }, 'order.network', 'usd_tron'],
    [28, 'exchange', { currency_to: 'doge' }, 'order.currency_to', 'usd-doge'],
    [28, 'deposit_exchange', {}, 'order.currency_from', 'btc_bitcoin-usd'],
  ])('row %i: refuses a %s whose pair is not offered: %o', (_row, type, changes, field, key) => {
    expect(check(type, changes)).toEqual([{ field, reason: `pair ${key} is not offered for ${type}` }]);
  });

  it('does not repeat a card number that stands in the place of the currency', () => {
    expect(JSON.stringify(check('withdraw', { currency: OTHER_CARD }))).not.toContain(OTHER_CARD);
  });

  it.each<[number, OrderType, object, string, string]>([
    [
      7,
      'withdraw',
      { amount: '100.005' },
      'order.amount',
      'amount has 3 decimals, usd allows 2: 100.005 or 100005? write 100005 or at most 2 decimals',
    ],
    [
      7,
      'exchange_withdraw',
      { amount_to: `0.${'1'.repeat(19)}` },
      'order.amount_to',
      'amount_to has 19 decimals, eth allows 18',
    ],
    [10, 'withdraw', { amount: '9.99' }, 'order.amount', 'below min_amount_from, 10 usd'],
    [10, 'deposit', { amount: '1000.01' }, 'order.amount', 'above max_amount_from, 1000 usd'],
  ])('row %i: refuses a %s with %o', (_row, type, changes, field, reason) => {
    expect(check(type, changes)).toEqual([{ field, reason }]);
  });

  it('accepts the limits themselves', () => {
    expect(check('withdraw', { amount: '10.00' })).toEqual([]);
    expect(check('withdraw', { amount: '1000' })).toEqual([]);
  });

  it('applies no limits of the source side to amount_to', () => {
    expect(check('exchange_withdraw', { amount_to: '0.000000000000000001', wallet: ETHEREUM })).toEqual([]);
  });

  it.each<[string, Partial<RateEntry>]>([
    ['a minimum above the maximum', { min_amount_from: '5000', max_amount_from: '1' }],
    ['limits that are no decimals', { min_amount_from: '1,000', max_amount_from: 'none' }],
  ])('skips the limits of rates with %s (row 38)', (_what, changes) => {
    expect(check('withdraw', { amount: '2000' }, withEntry(changes))).toEqual([]);
  });
});
