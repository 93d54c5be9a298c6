import type Big from 'big.js';
import { type Amount, decimal, decimalOrZero, isPlaces, MAX_PLACES, sum, toAmount } from '../../contract/money.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { type OrderType, orderSides } from '../../contract/order/types.js';
import { type Balances, balanceIn, isMalformed, type RateEntry, type Rates } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';

/** Returns a note if the balance that pays an order is unreadable. It may exist. */
export function unreadableBalance(balances: Balances, type: OrderType, request: CreateRequest): string | undefined {
  const { currencyFrom } = orderSides(type, request);
  const entry = Object.hasOwn(balances, currencyFrom) ? balances[currencyFrom] : undefined;
  return entry && isMalformed(entry) ? `the balance in ${currencyFrom} could not be read` : undefined;
}

/** Returns the service's commission on a side: fixed + max(percent, min), before rounding. */
export function commission(entry: RateEntry, side: 'from' | 'to', amount: Big): Big {
  const byPercent = amount.times(decimalOrZero(entry[`fee_percent_${side}`])).times('0.01');
  const least = decimalOrZero(entry[`min_fee_amount_${side}`]);
  return decimalOrZero(entry[`fixed_fee_amount_${side}`]).plus(byPercent.gt(least) ? byPercent : least);
}

const ROUND_UP = 3;

/** Rounds up to whole smallest units of a currency, as the service rounds what it takes. */
export const roundedUp = (amount: Big, places: number): Big =>
  amount.round(isPlaces(places) ? places : MAX_PLACES, ROUND_UP);

/** Commission of one side. A payer other than the client is the merchant, beside the amount. */
export interface Fee {
  currency: string;
  amount: Big;
  payer: string | null;
}

/** Returns the commissions of both sides of an order, on the amount of each side. */
export const feesOf = (entry: RateEntry, amounts: Record<'from' | 'to', Big>): Fee[] =>
  (['from', 'to'] as const).map((side) => ({
    currency: entry[`currency_${side}`],
    amount: roundedUp(commission(entry, side, amounts[side]), entry[`currency_${side}_precision`]),
    payer: entry[`fee_percent_${side}_payer`],
  }));

export const isOnTop = ({ payer }: Fee): boolean => payer !== 'client';

/** Returns the commissions that the merchant pays beside the amount. */
export const onTop = (fees: readonly Fee[]): Big => sum(fees.filter(isOnTop).map(({ amount }) => amount));

/** Returns what a payment leaves of a balance. An unread balance is null, a missing wallet 0. */
export function balanceEffect(
  balances: Balances | undefined,
  currency: string,
  needed: Big,
): { balanceBefore: Amount | null; balanceAfter: Amount | null; shortfall?: Amount } {
  const known = balances && balanceIn(balances, currency);
  if (!balances || (!known && Object.hasOwn(balances, currency))) return { balanceBefore: null, balanceAfter: null };
  const before = decimalOrZero(known?.amount);
  const after = before.minus(needed);
  return {
    balanceBefore: toAmount(before),
    balanceAfter: toAmount(after),
    ...(after.lt(0) && { shortfall: toAmount(after.times('-1')) }),
  };
}

/**
 * Returns why the balance does not cover an order by `amount` with its fees; undefined if it does
 * or is unknown.
 */
export function shortfall(
  balances: Balances,
  rates: Rates,
  type: OrderType,
  request: CreateRequest,
): string | undefined {
  const needed = rateEntryOf(rates, type, request) && neededFor(rates, type, request);
  if (!needed) return undefined;
  const { amount, currency } = needed;
  const available = decimalOrZero(balanceIn(balances, currency)?.amount);
  if (available.gte(amount)) return undefined;
  const missing = toAmount(decimal(amount).minus(available));
  return `the balance of ${toAmount(available)} ${currency} is less than ${amount} ${currency} (with fees): ${missing} ${currency} are missing`;
}

/**
 * Returns what an order by `amount` takes from its balance, with the commissions beside the amount.
 * Without rates, it is the bare amount.
 */
export function neededFor(
  rates: Rates | undefined,
  type: OrderType,
  request: CreateRequest,
): Required<ApprovedAmount> | undefined {
  if (request.amount == null) return undefined;
  const { currencyFrom: currency } = orderSides(type, request);
  const entry = rates && rateEntryOf(rates, type, request);
  const amount = decimal(request.amount);
  const fees = entry ? feesOf(entry, { from: amount, to: amount }).filter((fee) => fee.currency === currency) : [];
  return { amount: toAmount(amount.plus(onTop(fees))), currency };
}
