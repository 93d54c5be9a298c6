import Big from 'big.js';
import { decimal, divide, isPlaces, MAX_PLACES, SIGNED_AMOUNT_FORMAT, sum } from '../../contract/money.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import { factsOf, type OrderType, orderSides } from '../../contract/order/types.js';
import { isMalformed, type RateEntry, type Rates } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';
import { commission, type Fee, feesOf, isOnTop, roundedUp } from './balances.js';

/** Margin for rates that move before the exchange. */
const RATES_MOVE = new Big('1.05');

/** Factor between the likelihoods of two directions at which the less likely one is excluded. */
const CLEARLY = 50;
/** Smallest orders that differ by more than this factor are unrelated. */
const MOST_APART = 30;

const ZERO = new Big(0);
const ONE = new Big(1);
const HUNDRED = new Big(100);
const ROUND_DOWN = 0;

/** Returns the highest estimate of the other side with all commissions; undefined without rates. */
export function mostOfOtherSide(type: OrderType, request: CreateRequest, rates: Rates | undefined): Big | undefined {
  const entry = rates && rateEntryOf(rates, type, request);
  if (!entry) return undefined;
  const factors = factorsOf(type, request, entry, rates);
  const { amount, amount_to }: RequestFields = request;
  if (amount != null) {
    const most = largest(factors.map((factor) => decimal(amount).times(factor)))?.times(RATES_MOVE);
    return most && roundedUp(most.plus(commission(entry, 'to', most)), entry.currency_to_precision);
  }
  const out = amount_to == null ? undefined : withFee(decimal(amount_to), entry, 'to');
  const most = out && largest(factors.map((factor) => divide(out, factor)))?.times(RATES_MOVE);
  const taken = most && withFee(most, entry, 'from');
  return taken && roundedUp(taken, entry.currency_from_precision);
}

/**
 * Returns the factors between two currencies: the direction of a rate is undocumented. Comparing
 * the smallest orders may exclude one direction.
 */
function factorsOf(type: OrderType, request: CreateRequest, { exchange_rate }: RateEntry, rates: Rates): Big[] {
  const { currencyFrom, currencyTo } = orderSides(type, request);
  if (currencyFrom === currencyTo) return [ONE];
  const rate = positive(exchange_rate);
  if (!rate) return [];
  const both = [rate, divide(ONE, rate)];
  const [from, to] = [smallestOrder(rates, currencyFrom), smallestOrder(rates, currencyTo)];
  if (!from || !to) return both;
  const [near, far] = both
    .map((factor) => ({ factor, apart: timesApart(from.times(factor), to) }))
    .sort((a, b) => a.apart.cmp(b.apart));
  const isClear = near && far && near.apart.lte(MOST_APART) && far.apart.gte(near.apart.times(CLEARLY));
  return isClear ? [near.factor] : both;
}

/**
 * Returns the median of a currency's minimums. Smallest units are placeholders and do not count.
 */
function smallestOrder(rates: Rates, currency: string): Big | undefined {
  const minimums = Object.values(rates)
    .flatMap((entries) => Object.values(entries))
    .flatMap((entry) => (isMalformed(entry) || entry.currency_from !== currency ? [] : entry))
    .flatMap(({ min_amount_from, currency_from_precision: places }) => {
      const minimum = positive(min_amount_from);
      return minimum && isPlaces(places) && minimum.gt(`1e-${places}`) ? minimum : [];
    });
  return minimums.toSorted((a, b) => a.cmp(b))[Math.floor(minimums.length / 2)];
}

const timesApart = (a: Big, b: Big): Big => (a.gt(b) ? divide(a, b) : divide(b, a));

/** Returns the amount that leaves `wanted` after a side's commission; undefined from 100 %. */
function withFee(wanted: Big, entry: RateEntry, side: 'from' | 'to'): Big | undefined {
  const fee = (name: 'fee_percent' | 'fixed_fee_amount' | 'min_fee_amount') =>
    positive(entry[`${name}_${side}`]) ?? ZERO;
  const share = ONE.minus(divide(fee('fee_percent'), HUNDRED));
  if (!share.gt(0)) return undefined;
  const withFixed = wanted.plus(fee('fixed_fee_amount'));
  return largest([divide(withFixed, share), withFixed.plus(fee('min_fee_amount'))]);
}

const positive = (amount: string | null): Big | undefined => {
  const value = amount !== null && SIGNED_AMOUNT_FORMAT.test(amount) ? decimal(amount) : undefined;
  return value?.gt(0) ? value : undefined;
};

const largest = (amounts: readonly Big[]): Big | undefined => amounts.toSorted((a, b) => b.cmp(a))[0];

/** Both sides of an order by the current rates, with the commissions of each. */
interface Sides {
  from: Big;
  fees: Fee[];
  /** Amount on the other side, after the client's commissions. */
  arrives: Big;
}

const UNCLEAR_RATE = 'the service does not document the direction of its exchange rates, and both are possible here';
const UNCLEAR_FEE =
  "the service does not document whether the client's commission is taken from amount_to or added to it";
const UNCLEAR_PAYER = 'the service does not say who pays the commission';
const NOTHING_LEFT = 'the amount does not cover its commission';

/** Returns both sides of an order, or why they are unknown. With an exchange, it is an estimate. */
export function bothSides(
  type: OrderType,
  request: CreateRequest,
  entry: RateEntry,
  rates: Rates,
): Sides | { unknown: string } {
  const [factor, other] = factorsOf(type, request, entry, rates);
  return !factor || other ? { unknown: UNCLEAR_RATE } : sidesBy(factor, type, request, entry);
}

/** Returns the same by a known factor between the two currencies. */
export function sidesBy(
  factor: Big,
  type: OrderType,
  request: CreateRequest,
  entry: RateEntry,
): Sides | { unknown: string } {
  const { amount, amount_to: amountTo }: RequestFields = request;
  const byClient = (side: 'from' | 'to') => entry[`fee_percent_${side}_payer`] === 'client';
  if (amountTo != null && byClient('to')) return { unknown: UNCLEAR_FEE };
  const { currency_from_precision: places, currency_to_precision: placesTo } = entry;
  const needed = amountTo == null ? decimal(amount ?? '0') : roundedUp(divide(decimal(amountTo), factor), places);
  const from = amountTo != null && byClient('from') ? withFee(needed, entry, 'from') : needed;
  if (!from) return { unknown: NOTHING_LEFT };
  const { exchanges } = factsOf(type);
  const exchanged = () => {
    const credited = byClient('from') ? from.minus(roundedUp(commission(entry, 'from', from), places)) : from;
    return credited.times(factor).round(isPlaces(placesTo) ? placesTo : MAX_PLACES, ROUND_DOWN);
  };
  const to = amountTo != null ? decimal(amountTo) : exchanges ? exchanged() : from;
  const fees = feesOf(entry, { from, to }).filter(({ amount: fee }) => fee.gt(0));
  if (fees.some(({ payer }) => payer !== 'client' && payer !== 'merchant')) return { unknown: UNCLEAR_PAYER };
  const taken = fees.filter((fee) => !isOnTop(fee) && fee.currency === entry.currency_to);
  const arrives = to.minus(sum(taken.map(({ amount: fee }) => fee)));
  return arrives.gt(0) ? { from: roundedUp(from, places), fees, arrives } : { unknown: NOTHING_LEFT };
}
