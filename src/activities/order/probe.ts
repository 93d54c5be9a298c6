import { echoDifferences } from '../../contract/differences/echo.js';
import { isFormOfId } from '../../contract/names.js';
import type { LookUpReading } from '../../contract/order/activities.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { Witness } from '../../contract/order/sent-to.js';
import type { OrderType } from '../../contract/order/types.js';
import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import { RateLimitedError } from '../../payment-service/errors.js';
import { DEFAULT_PAGE_SIZE } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { noReading } from '../failures.js';
import { ordersOfIds } from '../orders-of-ids.js';
import type { Patience } from './gathering.js';

/** Order that was asked for. */
interface Asked {
  type: OrderType;
  request: CreateRequest;
}

/** Orders that the list shows under one id. `unclear`: the error if more may exist. */
interface Listed {
  orders: Order[];
  unclear?: unknown;
  /** A part of the list is unreadable, so the status is read, too. */
  isIncomplete?: true;
  /** Uuids of witnesses that the list lacks. */
  missing?: ReadonlySet<string>;
}

/** Time limit of the status request, in ms. Together with the list's, it fits into one attempt. */
const STATUS_TIMEOUT_MS = 10_000;

/**
 * Looks up before every send. If the list is unclear, the status may still show our order; anything
 * else proves nothing. Throws service errors, and NoReading.
 */
export async function probe(service: PaymentService, type: OrderType, request: CreateRequest): Promise<LookUpReading> {
  const asked = { type, request };
  const listed = await listOrders(service, request.order_id);
  const reading = readingOf(asked, listed.orders);
  return isClear(listed, reading) || !listed.unclear ? reading : withStatus(service, asked, listed);
}

/** Looks up before a first send, together with other orders if the answer is as reliable. */
export function probeFirst(
  { service, lookUps }: Account,
  type: OrderType,
  request: CreateRequest,
  patience: Patience,
): Promise<LookUpReading> {
  return lookUps.probe(request.order_id, patience, {
    shown: (items) => readingOf({ type, request }, items.map(withoutChanges)),
    alone: () => probe(service, type, request),
  });
}

/**
 * Reads by order id; throws as `probe` does. Absence needs a clear list and a status without the
 * order; presence needs one of them.
 */
export async function readByOrderId(
  service: PaymentService,
  asked: Asked,
  witnesses: readonly Witness[] = [],
): Promise<{ reading: LookUpReading; missing: ReadonlySet<string> }> {
  const listed = await listOrders(service, asked.request.order_id, witnesses).catch(asUnclear);
  const read = readingOf(asked, listed.orders);
  const reading = isClear(listed, read) ? read : await withStatus(service, asked, listed);
  return { reading, missing: listed.missing ?? new Set() };
}

/**
 * Returns a failed list as unclear, because the status may still show the order. Throws after a
 * 429.
 */
function asUnclear(error: unknown): Listed {
  if (error instanceof RateLimitedError) throw error;
  return { orders: [], unclear: error };
}

async function withStatus(service: PaymentService, asked: Asked, { orders, unclear }: Listed): Promise<LookUpReading> {
  const { order_id } = asked.request;
  const { order, said } = await service.orderStatus({ order_id }, unclear ? { timeoutMs: STATUS_TIMEOUT_MS } : {});
  const reading = readingOf(asked, order ? [...orders, order] : orders);
  if (unclear && !showsOurs(reading)) throw unclear;
  return reading.kind === 'absent' ? { ...reading, said } : reading;
}

/**
 * Reads the list for one order id. An unreadable item, another id, or a list without an end make it
 * unclear. Throws without an answer.
 */
async function listOrders(
  service: PaymentService,
  orderId: string,
  witnesses: readonly Witness[] = [],
): Promise<Listed> {
  const listed: Listed = { orders: [] };
  let isAnswered = false;
  const missing = new Map(witnesses.map((witness) => [witness.order_uuid, witness.order_id]));
  const ids = [orderId, ...missing.values()];
  try {
    const isOurs = (id: string) => isFormOfId(id, orderId);
    // A witness in another form counts as missing.
    const isAsked = (id: string) => ids.some((asked) => isFormOfId(id, asked));
    for await (const page of ordersOfIds([...new Set(ids)], service.orders(), DEFAULT_PAGE_SIZE, isAsked)) {
      isAnswered = true;
      const { malformed } = page;
      const items = page.items.filter(({ user_order_id: id }) => isOurs(id));
      for (const { user_order_id: id, order_uuid: uuid } of page.items) {
        if (missing.get(uuid) === id) missing.delete(uuid);
      }
      listed.orders.push(...items.map(withoutChanges));
      const unreadable = [
        ...malformed.map(({ reason }) => reason),
        ...items.flatMap(({ unreadable: fields = [], empty = [] }) => [...fields, ...empty]),
      ];
      if (unreadable.length === 0) continue;
      listed.isIncomplete = true;
      listed.unclear = noReading(`the order list shows an item that cannot be read (${unreadable.join(', ')})`);
      break;
    }
  } catch (error) {
    if (!isAnswered) throw error;
    listed.unclear = error;
  }
  listed.missing = new Set(missing.keys());
  return listed;
}

/** Returns the order of a list item in the form of other operations. */
export const withoutChanges = ({ balance_changes: _, empty: __, ...order }: OrderListItem): Order => order;

/** Returns true if the list alone shows our order completely. */
const isClear = ({ isIncomplete }: Listed, reading: LookUpReading): boolean => showsOurs(reading) && !isIncomplete;

const showsOurs = (reading: LookUpReading): boolean =>
  (reading.kind === 'found' && reading.differences.length === 0) ||
  (reading.kind === 'duplicates' && reading.ours.length > 0);

/** Returns a found order with the result of the echo check. */
export function foundOrder({ type, request }: Asked, order: Order): Extract<LookUpReading, { kind: 'found' }> {
  const { hard, soft } = echoDifferences(type, request, order);
  return { kind: 'found', order, differences: hard, ...(soft.length > 0 && { soft }) };
}

/** Returns the reading for all orders under one id. */
function readingOf(asked: Asked, orders: readonly Order[]): LookUpReading {
  const byUuid = new Map(orders.map((order) => [order.order_uuid, order]));
  const seen = [...byUuid.values()].map((order) => foundOrder(asked, order));
  const [first, ...others] = seen;
  if (!first) return { kind: 'absent' };
  if (others.length === 0) return first;
  const ours = seen.flatMap(({ order, differences }) => (differences.length === 0 ? [order.order_uuid] : []));
  return { kind: 'duplicates', orderUuids: [...byUuid.keys()], ours };
}
