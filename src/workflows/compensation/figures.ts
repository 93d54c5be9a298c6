import Big from 'big.js';
import { type Amount, decimal, decimalOrZero, divide, MAX_PLACES, sum, toAmount } from '../../contract/money.js';
import type { Payers } from '../../contract/order/activities.js';
import type { Remainder } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { factsOf, type OrderType } from '../../contract/order/types.js';
import type { BalanceChange, Order } from '../../contract/service-objects.js';

/** Input of the figures. `laterPayers`: another answer of the rates. */
export interface Case {
  type: OrderType;
  request: CreateRequest;
  order: Order;
  changes: readonly BalanceChange[];
  payers?: Payers;
  laterPayers?: Payers;
}

/**
 * Remainders of an order, never rounded. F and T: its currencies; net[T]: sum of the changes in T.
 */
export interface Figures {
  /** R_F: not exchanged, in currency_from. */
  unexchanged?: Big;
  /** R_T: not paid out, in currency_to. */
  unpaid?: Big;
}

export const startsWithDeposit = ({ type }: Pick<Case, 'type'>): boolean => factsOf(type).startsWithDeposit;

/** Returns `A`: the requested `amount`, or the expected one of an order by `amount_to`. */
export const requestedAmount = ({ request, order }: Case): Big => decimal(request.amount ?? order.expected_amount_from);

/** Side of an order: what it takes (from), or what it gives (to). */
export type Side = 'from' | 'to';

export const changesOn = ({ order, changes }: Case, side: Side): Big[] =>
  changes
    .filter(({ currency }) => currency === order[`currency_${side}`])
    .map(({ amount_change }) => decimal(amount_change));

export const netChange = (c: Case, side: Side): Big => sum(changesOn(c, side));
export const increases = (c: Case, side: Side): Big => sum(changesOn(c, side).filter((change) => change.gt(0)));
export const decreases = (c: Case, side: Side): Big => sum(changesOn(c, side).filter((change) => change.lt(0))).abs();

/** Returns the commission that an order shows for a side, charged or quoted. */
export const feeOf = ({ order }: Case, side: Side): Big => decimalOrZero(order[`amount_${side}_fee`]);

/** Returns true if a balance change shows the commission of a side. */
export const showsFee = (c: Case, side: Side): boolean =>
  feeOf(c, side).gt(0) && changesOn(c, side).some((change) => change.eq(feeOf(c, side).neg()));

/** Returns what is left, from balance changes and `amount_to` alone. */
export function figures(c: Case): Figures {
  const { startsWithDeposit, exchanges, paysOut } = factsOf(c.type);
  const withheld = c.payers?.from !== 'client' && showsFee(c, 'from') ? feeOf(c, 'from') : new Big(0);
  // A deposit brings the money; other orders take it from the balance.
  const brought = startsWithDeposit ? withheld : requestedAmount(c);
  const payable = exchanges || startsWithDeposit ? increases(c, 'to') : requestedAmount(c);
  // A merchant's commission is paid beside the amount; a client's is part of it.
  const paid = c.payers?.to === 'merchant' ? decimalOrZero(c.order.amount_to) : decreases(c, 'to');
  return {
    ...(exchanges && { unexchanged: brought.plus(netChange(c, 'from')) }),
    ...(paysOut && { unpaid: payable.minus(paid) }),
  };
}

export function remainders(c: Case, left: Figures): Remainder[] {
  const all: [Remainder['kind'], string, Big | undefined][] = [
    ['unexchanged', c.order.currency_from, left.unexchanged],
    ['unpaid', c.order.currency_to, left.unpaid],
  ];
  return all.flatMap(([kind, currency, amount]) =>
    amount?.gt(0) ? [{ kind, currency, amount: toAmount(amount) }] : [],
  );
}

/* No document says whether a rate multiplies or divides. */

export function applyRate(amount: Big, rate: Big, multiply: boolean): Big {
  if (multiply) return amount.times(rate);
  return rate.eq(0) ? new Big(0) : divide(amount, rate);
}

export const exchangedPart = (c: Case, unexchanged: Big): Big =>
  (startsWithDeposit(c) ? increases(c, 'from') : requestedAmount(c)).minus(unexchanged);

/** Directions within this factor cannot be told apart, because of commissions. */
const AMBIGUOUS_WITHIN = 2;

/** Directions that fit the expected amounts, which commissions only reduce. */
function directionsThatFit({ order }: Case): boolean[] {
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

/** Returns one unit of the target's precision plus half of the rate's last digit. */
export function tolerance(order: Order, exchanged: Big, rate: Amount, multiply: boolean): Big {
  const unit = new Big(`1e-${placesOf(order.currency_to_precision)}`);
  const digits = rate.split('.')[1]?.length ?? 0;
  const halfDigit = new Big(`5e-${digits + 1}`);
  if (multiply) return unit.plus(exchanged.times(halfDigit));
  const [shown, least] = [decimal(rate), decimal(rate).minus(halfDigit)];
  return unit.plus(applyRate(exchanged, least, false)).minus(applyRate(exchanged, shown, false));
}

export const placesOf = (precision: number): number => Math.min(Math.max(precision, 0), MAX_PLACES);

/** Returns the directions that also fit what was exchanged and received. */
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
