import type { BalanceChange, Order } from '../service-objects.js';
import { FINAL_AMOUNTS } from './after-end.js';

/** Status and figures of an order, in the order of the service. */
export const FIGURE_FIELDS = [
  ...(['status', 'expected_amount_from', 'expected_amount_to'] as const),
  ...FINAL_AMOUNTS,
  ...(['exchange_rate_initial', 'exchange_rate_actual'] as const),
] as const;

/** Fields of an order on which its figures, table row and checks depend. */
export const BASIS_FIELDS = [...FIGURE_FIELDS, 'blockchain_deposit_hash', 'blockchain_withdrawal_hash'] as const;

/** The state of a final order before money moved. Other fields, such as `updated_at`, may change. */
export type Basis = Pick<Order, 'order_uuid' | 'user_order_id' | (typeof BASIS_FIELDS)[number]> & {
  balance_changes: BalanceChange[];
};

export interface Reading {
  order: Order;
  changes: BalanceChange[];
  disagreements: string[];
}

/** Returns the part of a reading on which money depends. */
export function basisOf({ order, changes }: Pick<Reading, 'order' | 'changes'>): Basis {
  const kept = Object.fromEntries(BASIS_FIELDS.map((field) => [field, order[field]])) as Pick<
    Order,
    keyof Basis & keyof Order
  >;
  return { ...kept, order_uuid: order.order_uuid, user_order_id: order.user_order_id, balance_changes: changes };
}

/** Returns the fields that differ in a later reading; [] = the basis holds. */
export function basisDifferences(basis: Basis, { order, changes, disagreements }: Reading): string[] {
  return [
    ...BASIS_FIELDS.filter((field) => basis[field] !== order[field]),
    ...(shown(basis.balance_changes) === shown(changes) ? [] : ['balance_changes']),
    ...disagreements,
  ];
}

const CHANGE_FIELDS = ['currency', 'amount_before', 'amount_change', 'amount_after', 'created_at'] as const;
const shown = (changes: readonly BalanceChange[]): string =>
  JSON.stringify(changes.map((change) => CHANGE_FIELDS.map((field) => change[field])));
