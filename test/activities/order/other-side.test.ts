import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import { quoteFrom, quoteTo } from '../../../sandbox/quote.js';
import { ratesData, TERMS, type Terms } from '../../../sandbox/rates.js';
import { exceededCap } from '../../../src/activities/order/limits.js';
import { mostOfOtherSide } from '../../../src/activities/order/other-side.js';
import { toAmount } from '../../../src/contract/money.js';
import type { CreateRequest } from '../../../src/contract/order/request.js';
import type { RateEntry, Rates } from '../../../src/contract/service-objects.js';

const RATES = ratesData(TERMS.values()) as unknown as Record<string, Record<string, RateEntry>>;

/** The same terms with other entries. */
const withEntries = (change: (entry: RateEntry) => Partial<RateEntry>, rates: Rates = RATES): Rates =>
  Object.fromEntries(
    Object.entries(rates).map(([type, entries]) => [
      type,
      Object.fromEntries(
        Object.entries(entries).map(([key, entry]) => [key, { ...entry, ...change(entry as RateEntry) }]),
      ),
    ]),
  ) as Rates;

const inverted = (rate: string): string => new Big(1).div(rate).toFixed(30);

const MEANINGS: [string, Rates][] = [
  ['units of the target for one of the source', RATES],
  [
    'units of the source for one of the target',
    withEntries(({ exchange_rate }) => ({ exchange_rate: exchange_rate && inverted(exchange_rate) })),
  ],
  [
    'the price of the dearer in the cheaper, whichever comes first',
    withEntries(({ exchange_rate }) => ({
      exchange_rate: exchange_rate && (new Big(exchange_rate).gt(1) ? exchange_rate : inverted(exchange_rate)),
    })),
  ],
];

const request = (terms: Terms, amounts: object): CreateRequest =>
  ({
    order_id: 'x',
    currency_from: terms.currencyFrom,
    ...(terms.networkFrom && { network_from: terms.networkFrom }),
    currency_to: terms.currencyTo,
    ...(terms.networkTo && { network_to: terms.networkTo }),
    wallet: 'w',
    ...amounts,
  }) as unknown as CreateRequest;

/** Every pair that is exchanged, with an order worth about 1,000 usd. */
const EXCHANGES = [...TERMS.values()].filter(({ rate }) => rate !== null);
const PAYOUTS = EXCHANGES.filter(({ orderType }) => orderType.endsWith('withdraw'));
const USD: Record<string, string> = {
  usd: '1',
  eur: '1.08',
  uah: '0.0241',
  btc: '64250',
  eth: '3120.5',
  usdt: '1',
  trx: '0.1132',
};
const worth = (currency: string, precision: number): string =>
  toAmount(new Big(1_000).div(USD[currency] ?? 1).round(precision, 3));

/** What the side may be overestimated by: 5 % for rates that move, and the commissions. */
const NOT_ABSURD = 1.5;

/** Small rates leave their direction open: the estimate may then be off by the rate's square, which is below 50. */
function bound({ rate }: Terms): Big {
  const square = new Big(rate ?? 1).pow(2);
  const factor = square.gt(1) ? square : new Big(1).div(square);
  return factor.lt(50) ? factor.times(NOT_ABSURD) : new Big(NOT_ABSURD);
}

const pairOf = ({ currencyFrom, networkFrom, currencyTo, networkTo }: Terms): string =>
  [currencyFrom, networkFrom, currencyTo, networkTo].join(' ');

/** The pairs of which a check does not hold. */
const wrong = (exchanges: Terms[], holds: (terms: Terms) => boolean | undefined): string[] =>
  exchanges.filter((terms) => !holds(terms)).map(pairOf);

describe.for(MEANINGS)('for every pair whose rate means %s', ([, rates]) => {
  const cases = PAYOUTS.map((terms) => {
    const amount_to = worth(terms.currencyTo, terms.precisionTo);
    return { terms, order: request(terms, { amount_to }), quote: quoteTo(amount_to, terms) };
  });

  test('an order by amount_to takes no more than the most, which is not absurd', () => {
    const bad = cases.filter(({ terms, order, quote }) => {
      const most = mostOfOtherSide(terms.orderType, order, rates);
      return !(most?.gte(quote.from) && most.lte(bound(terms).times(quote.from)));
    });
    expect(cases.length).toBeGreaterThan(100);
    expect(bad.map(({ terms }) => pairOf(terms))).toEqual([]);
  });

  test('an order by amount brings no more than the most, which is not absurd', () => {
    const bad = wrong(EXCHANGES, (terms) => {
      const amount = worth(terms.currencyFrom, terms.precisionFrom);
      const { to } = quoteFrom(amount, terms);
      const most = mostOfOtherSide(terms.orderType, request(terms, { amount }), rates);
      return most?.gte(to) && most.lte(bound(terms).times(to));
    });
    expect(bad).toEqual([]);
  });
});

const KEY = 'usd-btc_bitcoin';
const PAIR = RATES.exchange_withdraw?.[KEY] as RateEntry;
const withPair = (changes: Partial<RateEntry>, others: Rates = RATES): Rates => ({
  ...others,
  exchange_withdraw: { ...others.exchange_withdraw, [KEY]: { ...PAIR, ...changes } },
});
const TERM = TERMS.get(`exchange_withdraw ${KEY}`) as Terms;
const BTC = request(TERM, { amount_to: '0.5' });

describe('what cannot be estimated', () => {
  test.for<[string, Rates | undefined]>([
    ['no rates', undefined],
    ['no such pair', {}],
    ['no exchange rate', withPair({ exchange_rate: null })],
    ['an exchange rate of 0', withPair({ exchange_rate: '0' })],
    ['a negative exchange rate', withPair({ exchange_rate: '-3' })],
    ['a commission of 100 %', withPair({ fee_percent_to: '100' })],
  ])('%s: a cap on its currency asks, no other does', ([, rates]) => {
    expect(mostOfOtherSide('exchange_withdraw', BTC, rates)).toBeUndefined();
    const cap = (currency: string) => exceededCap(new Map([[currency, '1000000']]), 'exchange_withdraw', BTC, rates);
    expect(cap('usd')).toEqual({
      reason:
        'what it takes in usd cannot be estimated, and there is a cap of 1000000 usd for one order; it asks for 0.5 btc',
      currency: 'usd',
    });
    expect(cap('btc')).toBeUndefined();
    expect(cap('eur')).toBeUndefined();
  });
});

describe('smallest orders that say nothing', () => {
  const tiny = (currency: string) => (rates: Rates) =>
    withEntries(({ currency_from }) => (currency_from === currency ? { min_amount_from: '0.00000001' } : {}), rates);

  test.for(['usd', 'btc', 'eth', 'trx'])(
    'a placeholder in all orders that begin in %s: no estimate is too low',
    (currency) => {
      const bad = MEANINGS.map(([, rates]) => tiny(currency)(rates)).flatMap((rates) =>
        wrong(PAYOUTS, (terms) => {
          const amount_to = worth(terms.currencyTo, terms.precisionTo);
          const most = mostOfOtherSide(terms.orderType, request(terms, { amount_to }), rates);
          return most?.gte(quoteTo(amount_to, terms).from);
        }),
      );
      expect(bad).toEqual([]);
    },
  );

  test('a single placeholder changes no estimate', () => {
    const usd = TERMS.get('exchange usd-btc') as Terms;
    const rates = { ...RATES, exchange: { ...RATES.exchange, 'usd-eur': { ...PAIR, min_amount_from: '0.00000001' } } };
    const order = request(usd, { amount: '100' });
    expect(mostOfOtherSide('exchange', order, rates)).toEqual(mostOfOtherSide('exchange', order, RATES));
  });
});

describe('two directions that cannot be told apart', () => {
  test('count with the larger', () => {
    const rates = withPair(
      { exchange_rate: '0.25', fixed_fee_amount_to: null, fee_percent_to: null, min_fee_amount_to: null },
      {
        exchange_withdraw: {},
      },
    );
    expect(mostOfOtherSide('exchange_withdraw', BTC, rates)?.toFixed()).toBe('2.1');
  });
});
