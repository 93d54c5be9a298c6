import { ORDER_TYPES, type OrderInput, type OrderListItem, type OrderType } from './orders.js';
import { requestOfOrder } from './request-of-order.js';
import type { SentTo } from './sent-to.js';

/** One signed look-up of an order whose run was rebuilt. `input`: the whole workflow input, validated inside. */
export interface LookUpRecoveredInput {
  type: OrderType;
  account: string;
  input: unknown;
  /** As of a look-up. */
  sentTo?: SentTo;
  told?: string;
  delayMs?: number;
}

/**
 * The start that follows an order of the order list to its end and sends nothing; undefined for a type that is not known
 * here. The input is checked by the workflow: the service also lists orders whose names ours cannot have.
 */
export function recoveredStart(
  account: string,
  { balance_changes, ...listed }: OrderListItem,
  sentTo?: SentTo,
): { type: OrderType; input: OrderInput & Required<Pick<OrderInput, 'recovered'>> } | undefined {
  const type = ORDER_TYPES.find((known) => known === listed.order_type);
  if (!type) return undefined;
  const input = {
    account,
    order: requestOfOrder(type, listed),
    compensation: 'report' as const,
    resend: 'never' as const,
    recovered: { order_uuid: listed.order_uuid, listed, ...(sentTo && { sentTo }) },
  };
  return { type, input };
}
