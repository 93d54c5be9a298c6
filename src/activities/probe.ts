import { echoDifferences } from '../contract/echo-check.js';
import type { CreateRequest, Order, OrderType } from '../contract/orders.js';
import type { PaymentService } from '../payment-service/index.js';
import { noReading } from './failures.js';

/** What the order list shows under one order id. */
export type Probe =
  | { kind: 'absent' }
  | { kind: 'found'; order: Order; differences: string[] }
  | { kind: 'duplicates'; orderUuids: string[] };

/**
 * Asks the order list for one order id. Every returned item must be readable and carry that id: otherwise the filter was
 * ignored or something is hidden, and the answer proves nothing. Throws service errors, and NoReading.
 */
export async function probe(service: PaymentService, type: OrderType, request: CreateRequest): Promise<Probe> {
  const page = await service.listOrders({ order_ids: [request.order_id] });
  if (page.malformed.length > 0) throw noReading('the order list shows an item that cannot be read');
  if (page.items.some((item) => item.user_order_id !== request.order_id)) {
    throw noReading('the order list shows orders of other ids: its filter was ignored');
  }
  const byUuid = new Map(page.items.map((item) => [item.order_uuid, item]));
  if (byUuid.size > 1) return { kind: 'duplicates', orderUuids: [...byUuid.keys()] };
  const [item] = byUuid.values();
  if (!item) return { kind: 'absent' };
  const { balance_changes: _, ...order } = item;
  return { kind: 'found', order, differences: echoDifferences(type, request, order) };
}
