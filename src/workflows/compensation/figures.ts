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

/** Σ of the balance changes in one currency. */
export const netChange = ({ changes }: Case, currency: string): Big =>
  sum(changes.filter((change) => change.currency === currency).map((change) => decimal(change.amount_change)));

/** `A`: the requested `amount`; orders by `amount_to` asked for what they were expected to take. */
export const requestedAmount = ({ request, order }: Case): Big => decimal(request.amount ?? order.expected_amount_from);

/**
 * A commission that is withheld separately from the balance (payer `merchant`) is added back; a client's is not, nor one
 * that was only quoted: where nothing moved in its currency, nothing was withheld.
 */
function withheldFee({ changes }: Case, currency: string, fee: string | null, payer: string | null | undefined): Big {
  const hasChanged = changes.some((change) => change.currency === currency);
  return hasChanged && payer !== 'client' ? decimalOrZero(fee) : decimalOrZero(null);
}

/** What is left, by what the order's type does with its two currencies. Pure and exact. */
export function figures(c: Case): Figures {
  const netFrom = netChange(c, c.order.currency_from);
  const netTo = netChange(c, c.order.currency_to);
  const feeFrom = withheldFee(c, c.order.currency_from, c.order.amount_from_fee, c.payers?.from);
  const feeTo = withheldFee(c, c.order.currency_to, c.order.amount_to_fee, c.payers?.to);
  const { startsWithDeposit, exchanges, paysOut } = factsOf(c.type);
  // A deposit brings what the order uses; every other order takes it from the balance, where it is missing.
  const unexchanged = () => (startsWithDeposit ? netFrom.plus(feeFrom) : requestedAmount(c).plus(netFrom));
  const unpaid = () => (exchanges || startsWithDeposit ? netTo : requestedAmount(c).plus(netTo)).plus(feeTo);
  return { ...(exchanges && { unexchanged: unexchanged() }), ...(paysOut && { unpaid: unpaid() }) };
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

/** The part that went into the exchange: what was there, less a client's commission, less what stayed. */
export function exchangedPart(c: Case, unexchanged: Big): Big {
  if (!startsWithDeposit(c)) return requestedAmount(c).minus(unexchanged);
  const clientFee = c.payers?.from === 'client' ? decimalOrZero(c.order.amount_from_fee) : new Big(0);
  return decimalOrZero(c.order.amount_from).minus(clientFee).minus(unexchanged);
}

/** The part that came out of the exchange: what is on the balance and what went on to the wallet with its fee. */
export function receivedPart(c: Case): Big {
  const netTo = netChange(c, c.order.currency_to);
  if (!factsOf(c.type).paysOut) return netTo;
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

/** Decimal places of a currency; what is none is taken for the nearest one. */
export const placesOf = (precision: number): number => Math.min(Math.max(precision, 0), MAX_PLACES);

/** The directions that fit in which what was exchanged gives what was received; all that fit without an exchange. */
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
