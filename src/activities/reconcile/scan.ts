import type { Client } from '@temporalio/client';
import { maskName } from '../../contract/masking.js';
import { decimal } from '../../contract/money.js';
import { isFormOfId } from '../../contract/names.js';
import type { DayFound, ReconcileDay, ReconcileTotals } from '../../contract/reconcile/days.js';
import type { Span } from '../../contract/reconcile/input.js';
import { MAX_SHOWN, type MalformedItem, type ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange, Order, OrderListItem } from '../../contract/service-objects.js';
import { type Page, wholeList } from '../../payment-service/paging.js';
import { MAX_ORDERS_PER_PAGE, type OrderListQuery, serviceDateTime } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { ordersOfIds } from '../orders-of-ids.js';
import type { PacedReads } from '../paced-reads.js';
import type { OurRun } from './our-runs.js';

/** Half a page: where the service executed an order twice, both must fit onto it. */
export const IDS_AT_ONCE = 500;
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
  /** Finds the reference of our permanent address that an order is a receipt on: null on another address, else undefined. */
  receiptOf: (order: Order) => Promise<string | null | undefined>;
}

/** What some orders of the service are compared with: what else the list shows, and our runs that may be theirs. */
export interface Comparing extends Reconciliation {
  view: ServiceView;
  runs: ReadonlyMap<string, OurRun>;
}

/** Lists the orders of ids, of a span of creation dates if one is given. */
export async function listIds(
  { reads }: Reconciliation,
  ids: readonly string[],
  span?: Span,
): Promise<Page<OrderListItem>> {
  const list = reads.orders();
  const dates = span && { date_from: serviceDateTime(span.fromMs), date_to: serviceDateTime(span.toMs + SECOND_MS) };
  // One that the service shows under another form of its id is compared, and reported, as what it is.
  const isAsked = (id: string) => ids.some((asked) => isFormOfId(id, asked));
  const within = { ...list, page: (query: OrderListQuery) => list.page({ ...query, ...dates }) };
  return wholeList(ordersOfIds(ids, within, MAX_ORDERS_PER_PAGE, isAsked));
}

export async function readIds(work: Reconciliation, view: ServiceView, ids: Iterable<string>): Promise<void> {
  const all = [...new Set(ids)];
  for (let at = 0; at < all.length; at += IDS_AT_ONCE) {
    const some = all.slice(at, at + IDS_AT_ONCE);
    view.take(await listIds(work, some), `look-up of ${some.length} order ids from ${shownId(some[0] ?? '')} on`);
  }
}

/** An order by the status operation; undefined where that does not show it. */
export async function statusOf({ reads }: Reconciliation, orderUuid: string): Promise<Order | undefined> {
  const { order } = await reads.ask((service, options) => service.orderStatus({ order_uuid: orderUuid }, options));
  return order?.order_uuid === orderUuid ? order : undefined;
}

/** The ids of orders that others named may be anything; only these can be ids of ours, follow-ups included. */
export const isOwnId = (id: string): boolean => /^[A-Za-z0-9._:-]{1,126}$/.test(id);

/** Ids that others chose may hold anything, such as an e-mail: what could not be an id of ours is masked. */
export const shownId = (id: string): string => (isOwnId(id) ? id : maskName(id));

export class ServiceView {
  readonly orders = new Map<string, OrderListItem>();
  /** The order_uuids under an order id; more than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];

  /** Takes a page; `place` says where it was, for what cannot be read on it. */
  take(page: Page<OrderListItem>, place: string): void {
    for (const item of page.items) {
      const { order_uuid: uuid, user_order_id: id } = item;
      if (!this.orders.has(uuid)) this.malformed.push(...unreadableIn(item));
      this.orders.set(uuid, item);
      this.uuidsById.set(id, (this.uuidsById.get(id) ?? new Set()).add(uuid));
    }
    for (const { index, reason } of page.malformed) {
      this.malformed.push({ place: `${place}, item ${index + 1} of ${page.total}`, reason });
    }
  }
}

/** What cannot be read in an order, or does not add up. */
function unreadableIn({ order_uuid: uuid, balance_changes: changes, unreadable }: OrderListItem): MalformedItem[] {
  const isUneven = ({ amount_before, amount_change, amount_after }: BalanceChange): boolean =>
    !decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));
  const reason = 'amount_before and amount_change do not add up to amount_after';
  return [
    ...(unreadable ? [{ place: `order ${uuid}`, reason: `cannot be read: ${unreadable.join(', ')}` }] : []),
    ...changes.flatMap((change, index) =>
      isUneven(change) ? [{ place: `order ${uuid}, balance change ${index + 1} of ${changes.length}`, reason }] : [],
    ),
  ];
}

export function addMalformed(totals: ReconcileTotals, items: readonly MalformedItem[]): void {
  totals.malformed.push(...items.slice(0, MAX_SHOWN - totals.malformed.length));
  totals.malformedCount += items.length;
}
