import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../../src/contract/money.js';

/** What is on the balance of an order and its follow-ups, in both of its currencies, by the sandbox's truth alone. */
export interface Pools {
  from: Big;
  to: Big;
}

/** What the sandbox knows about a worked order. */
export interface Worked {
  order: {
    order_type: string;
    currency_from: string;
    currency_to: string;
    expected_amount_from: string;
    amount_to: string | null;
  };
  truth: { unexchanged: string; unpaid: string };
}

type Order = Worked['order'];

/** The pools that an order left; one that ends with the exchange may also have its exchanged part taken back. */
export function poolsLeft({ order, truth }: Worked): Pools {
  const undone = order.order_type.endsWith('withdraw') ? null : order.amount_to;
  return { from: decimal(truth.unexchanged), to: decimal(truth.unpaid).plus(decimalOrZero(undone)) };
}

/** The pool that a follow-up takes from; undefined when the order left nothing in its currency. */
function sideOf(parent: Order, followUp: Order): keyof Pools | undefined {
  // Both sides of a withdraw are one currency, and what it leaves is unpaid.
  if (parent.order_type !== 'withdraw' && followUp.currency_from === parent.currency_from) return 'from';
  return followUp.currency_from === parent.currency_to ? 'to' : undefined;
}

/** Promise 4: says what a follow-up asks for beyond what there is; undefined when it is covered. */
export function beyondPools(parent: Order, pools: Pools, { order }: Worked): string | undefined {
  const side = sideOf(parent, order);
  const left = side ? pools[side] : decimal('0');
  if (decimal(order.expected_amount_from).lte(left)) return undefined;
  return `${order.order_type} of ${order.expected_amount_from} ${order.currency_from} where ${toAmount(left)} was left`;
}

/** The pools after a follow-up. Throws RangeError when it asked for more than there was. */
export function afterWorked(parent: Order, pools: Pools, followUp: Worked): Pools {
  const beyond = beyondPools(parent, pools, followUp);
  const side = sideOf(parent, followUp.order);
  if (beyond !== undefined || !side) throw new RangeError(beyond);
  const { order, truth } = followUp;
  const isWithdraw = order.order_type === 'withdraw';
  const taken = decimal(order.expected_amount_from).minus(isWithdraw ? truth.unpaid : truth.unexchanged);
  const after = { ...pools, [side]: pools[side].minus(taken) };
  if (isWithdraw) return after;
  // An exchange brings its result to the other pool, an exchange with payout what it could not pay.
  const brought = order.order_type === 'exchange' ? decimalOrZero(order.amount_to) : decimal(truth.unpaid);
  const other = side === 'from' ? 'to' : 'from';
  return { ...after, [other]: after[other].plus(brought) };
}
