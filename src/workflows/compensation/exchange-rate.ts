import Big from 'big.js';
import { type Amount, decimal, decimalOrZero } from '../../contract/money.js';
import type { Order } from '../../contract/order/order.js';
import { type Case, type Figures, netChange, requestedAmount } from './figures.js';
import { startsWithDeposit } from './moves.js';

/*
 * What an exchange gave, by the rates that an order carries. Nothing documents whether a rate multiplies or divides.
 */

/** Digits kept by divisions; far beyond any currency's precision. */
const QUOTIENT_DIGITS = 40;

/** An amount at a rate that multiplies or divides. */
export function applyRate(amount: Big, rate: Big, multiply: boolean): Big {
  if (multiply) return amount.times(rate);
  if (rate.eq(0)) return new Big(0);
  const Quotient = Big();
  Quotient.DP = QUOTIENT_DIGITS;
  return new Quotient(amount).div(rate);
}

/** The part that went into the exchange: what was there, less a client's commission, less what stayed. */
export function exchangedPart(c: Case, unexchanged: Big): Big {
  if (!startsWithDeposit(c)) return requestedAmount(c).minus(unexchanged);
  const clientFee = c.payers?.from === 'client' ? decimalOrZero(c.order.amount_from_fee) : new Big(0);
  return decimalOrZero(c.order.amount_from).minus(clientFee).minus(unexchanged);
}

/** The part that came out of the exchange: what is on the balance and what went on to the wallet with its fee. */
export function receivedPart(c: Case): Big {
  const netTo = netChange(c, c.order.currency_to);
  if (!c.type.endsWith('withdraw')) return netTo;
  return netTo.plus(decimalOrZero(c.order.amount_to)).plus(decimalOrZero(c.order.amount_to_fee));
}

/** Two directions whose results differ by less than this factor cannot be told apart: commissions hide the difference. */
const AMBIGUOUS_WITHIN = 2;

/**
 * Whether a rate multiplies or divides is not documented: the directions that fit the order's expected amounts. The
 * commissions between those only take, so a direction that gives less than what is expected is ruled out.
 */
export function directionsThatFit({ order }: Case): boolean[] {
  const from = decimal(order.expected_amount_from);
  const rate = order.exchange_rate_initial ?? '0';
  if (!decimal(rate).gt(0)) return [];
  const possible = [true, false]
    .map((multiply) => ({ multiply, gives: applyRate(from, decimal(rate), multiply) }))
    .filter(({ multiply, gives }) =>
      gives.plus(tolerance(order, from, rate, multiply)).gte(decimal(order.expected_amount_to)),
    )
    .sort((a, b) => a.gives.cmp(b.gives));
  const most = possible[0]?.gives.times(AMBIGUOUS_WITHIN);
  return possible.flatMap(({ multiply, gives }) => (most && gives.lte(most) ? [multiply] : []));
}

/** One unit of the target's precision, plus half of the rate's last digit applied to the exchanged part. */
export function tolerance(order: Order, exchanged: Big, rate: Amount, multiply: boolean): Big {
  const unit = new Big(`1e-${placesOf(order.currency_to_precision)}`);
  const digits = rate.split('.')[1]?.length ?? 0;
  const halfDigit = new Big(`5e-${digits + 1}`);
  if (multiply) return unit.plus(exchanged.times(halfDigit));
  return unit.plus(applyRate(applyRate(exchanged, decimal(rate), false).times(halfDigit), decimal(rate), false));
}

/** More decimal places than any currency has. */
const MAX_PLACES = 30;

/** Decimal places of a currency; what is none is taken for the nearest one. */
export const placesOf = (precision: number): number => Math.min(Math.max(precision, 0), MAX_PLACES);

/**
 * The directions among those in which what was exchanged gives what was received; [] = none does. Where nothing was
 * exchanged, all that fit.
 */
export function directionsSeen(c: Case, { unexchanged }: Figures): boolean[] {
  const rate = c.order.exchange_rate_actual;
  const exchanged = unexchanged && exchangedPart(c, unexchanged);
  if (!rate || !exchanged?.gt(0)) return directionsThatFit(c);
  const received = receivedPart(c);
  return directionsThatFit(c).filter((multiply) => {
    const arrived = applyRate(exchanged, decimal(rate), multiply);
    return received
      .minus(arrived)
      .abs()
      .lte(tolerance(c.order, exchanged, rate, multiply));
  });
}
