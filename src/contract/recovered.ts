import { ORDER_TYPES, type Order, type OrderInput, type OrderType } from './orders.js';
import { requestOfOrder } from './request-of-order.js';

/** One signed look-up of an order whose run was rebuilt. `input`: the whole workflow input, validated inside. */
export interface LookUpRecoveredInput {
  type: OrderType;
  account: string;
  input: unknown;
}

/**
 * The start that follows an order of the order list to its end and sends nothing; undefined for a type that is not known
 * here. The input is checked by the workflow: the service also lists orders whose names ours cannot have.
 */
export function recoveredStart(
  account: string,
  order: Order,
): { type: OrderType; input: OrderInput & Required<Pick<OrderInput, 'recovered'>> } | undefined {
  const type = ORDER_TYPES.find((known) => known === order.order_type);
  if (!type) return undefined;
  const input = {
    account,
    order: requestOfOrder(type, order),
    compensation: 'report' as const,
    resend: 'never' as const,
    recovered: { order_uuid: order.order_uuid },
  };
  return { type, input };
}
