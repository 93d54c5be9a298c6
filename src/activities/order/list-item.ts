import type { Order, OrderListItem } from '../../contract/order/order.js';
import { isReceivedType } from '../../contract/order/types.js';
import {
  type CallOptions,
  MAX_ORDERS_PER_PAGE,
  type OrderListQuery,
  type PaymentService,
  serviceDateTime,
  ZONE_SLACK_MS,
} from '../../payment-service/index.js';
import { noReading } from '../failures.js';

/**
 * The list item of an order that status showed; the list alone has the balance changes. A receipt may have no merchant's
 * id to ask the list for: then it is searched among the orders of its time. Throws service errors, and NoReading.
 */
export async function readListItem(
  service: PaymentService,
  order: Order,
  orderId: string,
  options?: CallOptions,
): Promise<OrderListItem> {
  const pages =
    orderId === ''
      ? service.allOrders(sameTime(order), options)
      : [await service.listOrders({ order_ids: [orderId] }, options)];
  for await (const { items } of pages) {
    const item = items.find(({ order_uuid }) => order_uuid === order.order_uuid);
    if (item) return item;
  }
  throw noReading('the order list does not show the order');
}

function sameTime({ order_type: type, created_at: createdAt }: Order): OrderListQuery {
  const createdAtMs = Date.parse(`${createdAt.replace(' ', 'T')}Z`);
  const ofType = { limit: MAX_ORDERS_PER_PAGE, ...(isReceivedType(type) && { order_type: type }) };
  if (Number.isNaN(createdAtMs)) return ofType;
  return {
    ...ofType,
    date_from: serviceDateTime(createdAtMs - ZONE_SLACK_MS),
    date_to: serviceDateTime(createdAtMs + ZONE_SLACK_MS),
  };
}
