import type { Client } from '@temporalio/client';
import { maskName } from '../../contract/masking.js';
import { decimal } from '../../contract/money.js';
import { isFormOfId } from '../../contract/names.js';
import { type DayFound, MAX_OTHERS, type ReconcileDay, type Span } from '../../contract/reconcile/days.js';
import type { MalformedItem, ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange, Order, OrderListItem } from '../../contract/service-objects.js';
import { type Page, serviceDateTime, wholeList } from '../../payment-service/paging.js';
import { MAX_ORDERS_PER_PAGE } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { ordersOfIds } from '../orders-of-ids.js';
import type { PacedReads } from '../paced-reads.js';
import type { OurRun } from './our-runs.js';

/** Half a page: where the service executed an order twice, both must fit onto it. */
export const IDS_AT_ONCE = 500;
type OrderList = ReturnType<PacedReads['orders']>;
const SECOND_MS = 1_000;

/** What the steps of one day work with. */
export interface Reconciliation {
  account: Account;
  client: Client;
  reads: PacedReads;
  input: ReconcileDay;
  progress: ReconcileProgress;
  found: DayFound;
  /** Ids and order_uuids of the orders that the list of this day showed. */
  ids: Set<string>;
  /** Finds the permanent address that an order is a receipt on; undefined for every other order. */
  receiptOf: (order: Order) => Promise<Receipt | undefined>;
}

/** A receipt. `ref`: of our address; `claimed`: in a callback URL that is not proven ours. */
export interface Receipt {
  ref?: string;
  claimed?: string;
}

/** Some orders of the service, and our runs that may be theirs. */
export interface Scan {
  view: ServiceView;
  runs: ReadonlyMap<string, OurRun>;
}

/** Looks orders up by their ids, each named once. */
export async function readIds({ reads }: Reconciliation, view: ServiceView, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE);
    const page = await listedOf(reads.orders(), some);
    view.take(page, `look-up of ${some.length} order ids from ${shownId(some[0] ?? '')} on`);
  }
}

/** The uuids of orders that the list shows within a time; it is asked for their ids, at most IDS_AT_ONCE. */
export async function listedWithin(
  { reads }: Reconciliation,
  ids: readonly string[],
  { fromMs, toMs }: Span,
): Promise<Set<string>> {
  const list = reads.orders();
  const dates = { date_from: serviceDateTime(fromMs), date_to: serviceDateTime(toMs + SECOND_MS) };
  const { items } = await listedOf({ ...list, page: (query) => list.page({ ...query, ...dates }) }, ids);
  return new Set(items.map(({ order_uuid: uuid }) => uuid));
}

/** Lists the orders of ids; one under another form of its id is compared, and reported, as what it is. */
const listedOf = (list: OrderList, ids: readonly string[]): Promise<Page<OrderListItem>> =>
  wholeList(ordersOfIds(ids, list, MAX_ORDERS_PER_PAGE, (id) => ids.some((asked) => isFormOfId(id, asked))));

/** True when a view holds the order of a run. */
export const isSeen = (view: ServiceView, { received, orderId }: OurRun): boolean =>
  received ? view.orders.has(orderId) : view.uuidsById.has(orderId);

/** An order by the status operation; undefined where that does not show it. */
export async function statusOf({ reads }: Reconciliation, orderUuid: string): Promise<Order | undefined> {
  const { order } = await reads.ask((service, options) => service.orderStatus({ order_uuid: orderUuid }, options));
  return order?.order_uuid === orderUuid ? order : undefined;
}

/** The ids of orders that others named may be anything; only these can be ids of ours, follow-ups included. */
export const isOwnId = (id: string): boolean => /^[A-Za-z0-9._:-]{1,126}$/.test(id);

/** Ids that others chose may hold anything, such as an e-mail: what could not be an id of ours is masked. */
export const shownId = (id: string): string => (isOwnId(id) ? id : maskName(id));

/** What a few answers of the order list hold; each order once, as it was read last. */
export class ServiceView {
  readonly orders = new Map<string, OrderListItem>();
  /** The order_uuids under an order id; more than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];

  /** Takes a page; `place` says where it was, for what cannot be read on it. */
  take(page: Page<OrderListItem>, place: string): void {
    for (const item of page.items) {
      if (!this.orders.has(item.order_uuid)) this.#check(item);
      this.#put(item);
    }
    for (const { index, reason } of page.malformed) {
      this.malformed.push({ place: `${place}, item ${index + 1} of ${page.total}`, reason });
    }
  }

  /** Takes over orders that only another view knows. */
  learn({ orders }: ServiceView): void {
    for (const order of orders.values()) if (!this.orders.has(order.order_uuid)) this.#put(order);
  }

  #put(order: OrderListItem): void {
    this.orders.set(order.order_uuid, order);
    const uuids = this.uuidsById.get(order.user_order_id) ?? new Set();
    this.uuidsById.set(order.user_order_id, uuids.add(order.order_uuid));
  }

  #check({ order_uuid: uuid, balance_changes: changes, unreadable }: OrderListItem): void {
    if (unreadable) this.malformed.push({ place: `order ${uuid}`, reason: `cannot be read: ${unreadable.join(', ')}` });
    for (const [index, change] of changes.entries()) {
      if (addsUp(change)) continue;
      const place = `order ${uuid}, balance change ${index + 1} of ${changes.length}`;
      this.malformed.push({ place, reason: 'amount_before and amount_change do not add up to amount_after' });
    }
  }
}

/** True when before + change = after. */
const addsUp = ({ amount_before, amount_change, amount_after }: BalanceChange): boolean =>
  decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));

/** Counts what cannot be read, and keeps the first of it. */
export function addMalformed({ totals, malformed }: DayFound, items: readonly MalformedItem[]): void {
  malformed.push(...items.slice(0, Math.max(0, MAX_OTHERS - totals.malformedCount)));
  totals.malformedCount += items.length;
}
