import type { LookUpReading } from '../contract/answers.js';
import { echoDifferences } from '../contract/echo-check.js';
import type { CreateRequest, Order, OrderType } from '../contract/orders.js';
import type { PaymentService } from '../payment-service/index.js';
import { noReading } from './failures.js';

/** What the order list shows under one order id. Throws service errors, and NoReading. */
export async function probe(service: PaymentService, type: OrderType, request: CreateRequest): Promise<LookUpReading> {
  return readingOf(type, request, await listedOrders(service, request.order_id));
}

/**
 * Asks the order list for one order id. Every returned item must be readable and carry that id: otherwise the filter was
 * ignored or something is hidden, and the answer proves nothing. Throws service errors, and NoReading.
 */
export async function listedOrders(service: PaymentService, orderId: string): Promise<Order[]> {
  const page = await service.listOrders({ order_ids: [orderId] });
  if (page.malformed.length > 0) throw noReading('the order list shows an item that cannot be read');
  if (page.items.some((item) => item.user_order_id !== orderId)) {
    throw noReading('the order list shows orders of other ids: its filter was ignored');
  }
  return page.items.map(({ balance_changes: _, ...order }) => order);
}

/** What all orders seen under one order id mean for the order we asked for. */
export function readingOf(type: OrderType, request: CreateRequest, orders: readonly Order[]): LookUpReading {
  const byUuid = new Map(orders.map((order) => [order.order_uuid, order]));
  const seen = [...byUuid.values()].map((order) => ({ order, differences: echoDifferences(type, request, order) }));
  const [first, ...others] = seen;
  if (!first) return { kind: 'absent' };
  if (others.length === 0) return { kind: 'found', ...first };
  const ours = seen.flatMap(({ order, differences }) => (differences.length === 0 ? [order.order_uuid] : []));
  return { kind: 'duplicates', orderUuids: [...byUuid.keys()], ours };
}
