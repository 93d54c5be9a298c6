import Big from 'big.js';
import type { OrderType } from '../../src/contract/orders.js';

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
    expected_amount_from: string;
    amount_to: string | null;
  };
  truth: { unexchanged: string; unpaid: string };
}

/** The pools that an order left; one that ends with the exchange may also have its exchanged part taken back. */
export function poolsLeft({ order, truth }: Worked): Pools {
  const undone = order.order_type.endsWith('withdraw') ? '0' : (order.amount_to ?? '0');
  return { from: new Big(truth.unexchanged), to: new Big(truth.unpaid).plus(undone) };
}

/** The pools after a follow-up. Throws when it asked for more than there was: promise 4. */
export function afterWorked(parent: Worked['order'], pools: Pools, { order, truth }: Worked): Pools {
  // Both sides of a withdraw are one currency, and what it leaves is unpaid.
  const inF = parent.order_type !== 'withdraw' && order.currency_from === parent.currency_from;
  const side = inF ? 'from' : 'to';
  const asked = new Big(order.expected_amount_from);
  if (asked.gt(pools[side])) throw new Error(`${order.order_type} of ${asked} where ${pools[side]} was left`);
  const taken = asked.minus(order.order_type === 'withdraw' ? truth.unpaid : truth.unexchanged);
  const brought = (order.order_type as OrderType) === 'exchange' ? (order.amount_to ?? '0') : truth.unpaid;
  const after = { ...pools, [side]: pools[side].minus(taken) };
  if (order.order_type === 'withdraw') return after;
  const other = inF ? 'to' : 'from';
  return { ...after, [other]: after[other].plus(brought) };
}
