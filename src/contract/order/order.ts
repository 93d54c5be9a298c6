import type { BalanceChangeShape, OrderShape } from '../../payment-service/schemas.js';
import type { ClientInfo } from './request.js';

/** One change of a balance that an order caused; amounts are signed decimal strings. */
export type BalanceChange = BalanceChangeShape;

/** An order of the service: decimal strings, opaque dates; `status` and `order_type` may hold unknown values. */
export interface Order extends Omit<OrderShape, 'client_info'> {
  client_info?: ClientInfo | null;
}

/** An item of the order list: the order and the balance changes it caused. */
export interface OrderListItem extends Order {
  balance_changes: BalanceChange[];
}

/** Final statuses of the service; every other value, known or not, means that the order is still under way. */
export const FINAL_STATUSES = ['completed', 'completed_partially', 'canceled', 'error'] as const;

/** A status after which the service changes nothing any more. */
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** True for the four final statuses. */
export function isFinal(status: string): status is FinalStatus {
  return (FINAL_STATUSES as readonly string[]).includes(status);
}

/** True for the documented statuses; an unknown one is tolerated as "not final" and raises attention. */
export function isKnownStatus(status: string): boolean {
  return status === 'new' || status === 'processing' || isFinal(status);
}
