import Big from 'big.js';
import { type Amount, decimal, decimalOrZero, divide, MAX_PLACES, sum, toAmount } from '../../contract/money.js';
import type { Payers } from '../../contract/order/activities.js';
import type { Remainder } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { factsOf, type OrderType } from '../../contract/order/types.js';
import type { BalanceChange, Order } from '../../contract/service-objects.js';
import { startsWithDeposit } from './moves.js';

/** What the figures are computed from: the final order, its balance changes, the request and who pays commissions. */
export interface Case {
  type: OrderType;
  request: CreateRequest;
  order: Order;
  changes: readonly BalanceChange[];
  payers?: Payers;
  /** What rates said about them at another time, where it was something else. */
  laterPayers?: Payers;
}

/**
 * What an order left behind; a side that its type does not have is absent. Exact, never rounded. Comments of this folder call
 * them R_F and R_T, the order's currencies F (from) and T (to), and the sum of its balance changes in T net[T].
 */
export interface Figures {
  /** R_F: not exchanged, in currency_from. */
  unexchanged?: Big;
  /** R_T: not paid out, in currency_to. */
  unpaid?: Big;
}

/** `A`: the requested `amount`; orders by `amount_to` asked for what they were expected to take. */
export const requestedAmount = ({ request, order }: Case): Big => decimal(request.amount ?? order.expected_amount_from);

/** A side of an order: what it takes (from), or what it gives (to). */
export type Side = 'from' | 'to';

/** Returns the balance changes in the currency of a side. */
export const changesOn = ({ order, changes }: Case, side: Side): Big[] =>
  changes
    .filter(({ currency }) => currency === order[`currency_${side}`])
    .map(({ amount_change }) => decimal(amount_change));

/** Returns `net`: the sum of a side's balance changes. */
export const netChange = (c: Case, side: Side): Big => sum(changesOn(c, side));

/** Returns `pos`: the sum of a side's increases of the balance. */
export const increases = (c: Case, side: Side): Big => sum(changesOn(c, side).filter((change) => change.gt(0)));

/** Returns `neg`: the sum of a side's decreases of the balance, as a positive number. */
export const decreases = (c: Case, side: Side): Big => sum(changesOn(c, side).filter((change) => change.lt(0))).abs();

/** Returns the commission that an order shows for a side: charged, or perhaps only quoted. */
export const feeOf = ({ order }: Case, side: Side): Big => decimalOrZero(order[`amount_${side}_fee`]);

/** Returns true if the balance shows the commission of a side as a change of its own. */
export const showsFee = (c: Case, side: Side): boolean =>
  feeOf(c, side).gt(0) && changesOn(c, side).some((change) => change.eq(feeOf(c, side).neg()));

/** Returns what is left, from the balance changes and `amount_to` alone. Exact, and never from a fee that is only quoted. */
export function figures(c: Case): Figures {
  const { startsWithDeposit, exchanges, paysOut } = factsOf(c.type);
  const withheld = c.payers?.from !== 'client' && showsFee(c, 'from') ? feeOf(c, 'from') : new Big(0);
  // A deposit brings what the order uses; every other order takes it from the balance, where it is missing.
  const brought = startsWithDeposit ? withheld : requestedAmount(c);
  const payable = exchanges || startsWithDeposit ? increases(c, 'to') : requestedAmount(c);
  // A merchant pays the commission beside what the wallet gets; a client's is part of what left the balance.
  const paid = c.payers?.to === 'merchant' ? decimalOrZero(c.order.amount_to) : decreases(c, 'to');
  return {
    ...(exchanges && { unexchanged: brought.plus(netChange(c, 'from')) }),
    ...(paysOut && { unpaid: payable.minus(paid) }),
  };
}

/** The figures above zero, as the result names them. */
export function remainders(c: Case, left: Figures): Remainder[] {
  const all: [Remainder['kind'], string, Big | undefined][] = [
    ['unexchanged', c.order.currency_from, left.unexchanged],
    ['unpaid', c.order.currency_to, left.unpaid],
  ];
  return all.flatMap(([kind, currency, amount]) =>
    amount?.gt(0) ? [{ kind, currency, amount: toAmount(amount) }] : [],
  );
}

/* What an exchange gave. Nothing documents whether a rate multiplies or divides. */

/** An amount at a rate that multiplies or divides. */
export function applyRate(amount: Big, rate: Big, multiply: boolean): Big {
  if (multiply) return amount.times(rate);
  return rate.eq(0) ? new Big(0) : divide(amount, rate);
}

/** Returns the part that went into the exchange: what was there, less what stayed. */
export const exchangedPart = (c: Case, unexchanged: Big): Big =>
  (startsWithDeposit(c) ? increases(c, 'from') : requestedAmount(c)).minus(unexchanged);

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
  const [shown, least] = [decimal(rate), decimal(rate).minus(halfDigit)];
  return unit.plus(applyRate(exchanged, least, false)).minus(applyRate(exchanged, shown, false));
}

/** Decimal places of a currency; what is none is taken for the nearest one. */
export const placesOf = (precision: number): number => Math.min(Math.max(precision, 0), MAX_PLACES);

/** The directions that fit in which what was exchanged gives what was received; all that fit without an exchange. */
export function directionsSeen(c: Case, { unexchanged }: Figures): boolean[] {
  const rate = c.order.exchange_rate_actual;
  const exchanged = unexchanged && exchangedPart(c, unexchanged);
  if (!rate || !exchanged?.gt(0)) return directionsThatFit(c);
  const received = increases(c, 'to');
  return directionsThatFit(c).filter((multiply) => {
    const arrived = applyRate(exchanged, decimal(rate), multiply);
    return received
      .minus(arrived)
      .abs()
      .lte(tolerance(c.order, exchanged, rate, multiply));
  });
}
