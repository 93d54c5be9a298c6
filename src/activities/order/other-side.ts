import Big from 'big.js';
import { decimal, divide, isPlaces, MAX_PLACES, SIGNED_AMOUNT_FORMAT } from '../../contract/money.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import { type OrderType, orderSides } from '../../contract/order/types.js';
import { isMalformed, type RateEntry, type Rates } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';
import { commission } from './balances.js';

/**
 * What the side of an order that its request does not give may come to: with `amount` what the exchange brings, with
 * `amount_to` what it takes. Estimates from rates, so that each says which way it errs.
 */

/** Rates are up to 10 minutes old, and go on moving until the exchange. */
const RATES_MOVE = new Big('1.05');

/** A direction is ruled out when the two currencies' smallest orders make it this many times less likely than the other. */
const CLEARLY = 50;
/** Further apart than this, smallest orders have nothing to do with each other. */
const MOST_APART = 30;

const ZERO = new Big(0);
const ONE = new Big(1);
const HUNDRED = new Big(100);
const ROUND_UP = 3;

/**
 * The most that the side not given may come to, in its own currency, with all commissions. Undefined where that cannot be
 * told: no rates, no such pair, no exchange rate.
 */
export function mostOfOtherSide(type: OrderType, request: CreateRequest, rates: Rates | undefined): Big | undefined {
  const entry = rates && rateEntryOf(rates, type, request);
  if (!entry) return undefined;
  const factors = factorsOf(type, request, entry, rates);
  const { amount, amount_to }: RequestFields = request;
  if (amount != null) {
    const most = largest(factors.map((factor) => decimal(amount).times(factor)))?.times(RATES_MOVE);
    return most && rounded(most.plus(commission(entry, 'to', most)), entry.currency_to_precision);
  }
  const out = amount_to == null ? undefined : withFee(decimal(amount_to), entry, 'to');
  const most = out && largest(factors.map((factor) => divide(out, factor)))?.times(RATES_MOVE);
  const taken = most && withFee(most, entry, 'from');
  return taken && rounded(taken, entry.currency_from_precision);
}

/**
 * The least that an order by `amount_to` takes from the balance it starts from: of two possible directions the cheaper one,
 * and only commissions that come out of what is exchanged. Undefined where that cannot be told.
 */
export function leastNeeded(type: OrderType, request: CreateRequest, rates: Rates): Big | undefined {
  const entry = rateEntryOf(rates, type, request);
  const { amount_to }: RequestFields = request;
  if (!entry || amount_to == null) return undefined;
  const wanted = decimal(amount_to);
  const out = entry.fee_percent_to_payer === 'client' ? withFee(wanted, entry, 'to') : wanted;
  const least = out && smallest(factorsOf(type, request, entry, rates).map((factor) => divide(out, factor)));
  return least && rounded(least.plus(commission(entry, 'from', least)), entry.currency_from_precision);
}

/**
 * By what an amount of the first currency may have to be multiplied to get one of the second. Whether a rate multiplies or
 * divides is not documented. The smallest orders of two currencies are worth about the same, so one direction is ruled
 * out where it makes them differ absurdly and the other does not; otherwise both are possible.
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
 * How small an order that begins in a currency may usually be: the middle of all minimums, so that a single wrong one counts
 * for nothing. The currency's smallest unit, or less, is a placeholder.
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

/** The amount of which `wanted` is left after the commission of a side; undefined at 100 % and more. */
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
const smallest = (amounts: readonly Big[]): Big | undefined => amounts.toSorted((a, b) => a.cmp(b))[0];

const rounded = (amount: Big, places: number): Big => amount.round(isPlaces(places) ? places : MAX_PLACES, ROUND_UP);
