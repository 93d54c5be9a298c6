import type { Client } from '@temporalio/client';
import { maskName } from '../../contract/masking.js';
import { decimal } from '../../contract/money.js';
import type { DayFound, ReconcileDay, ReconcileTotals } from '../../contract/reconcile/days.js';
import { type Span, serviceTime } from '../../contract/reconcile/input.js';
import { MAX_SHOWN, type MalformedItem, type ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange, Order, OrderListItem } from '../../contract/service-objects.js';
import type { Page } from '../../payment-service/paging.js';
import type { OrderListQuery } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { ordersOfForms } from '../orders-of-ids.js';
import type { PacedReads } from '../paced-reads.js';
import type { OurRun } from './our-runs.js';

/** Half a page, so that an order that was executed twice fits. */
export const IDS_AT_ONCE = 500;
const SECOND_MS = 1_000;

/** Shared data of a day's steps. */
export interface Reconciliation {
  account: Account;
  client: Client;
  reads: PacedReads;
  input: ReconcileDay;
  progress: ReconcileProgress;
  found: DayFound;
  /** Ids and order_uuids that this day's list showed. */
  ids: Set<string>;
  /**
   * Returns the reference of our address that an order is a receipt on: null on another address,
   * otherwise undefined.
   */
  receiptOf: (order: Order) => Promise<string | null | undefined>;
}

/** Data to compare orders with: the rest of the list, and our runs. */
export interface Comparing extends Reconciliation {
  view: ServiceView;
  runs: ReadonlyMap<string, OurRun>;
}

/** Lists the orders of ids, optionally within creation dates. */
export async function listIds(
  { reads }: Reconciliation,
  ids: readonly string[],
  span?: Span,
): Promise<Page<OrderListItem>> {
  const list = reads.orders();
  const dates = span && { date_from: serviceTime(span.fromMs), date_to: serviceTime(span.toMs + SECOND_MS) };
  return ordersOfForms(ids, { ...list, page: (query: OrderListQuery) => list.page({ ...query, ...dates }) });
}

export async function readIds(work: Reconciliation, view: ServiceView, ids: Iterable<string>): Promise<void> {
  const all = [...new Set(ids)];
  for (let at = 0; at < all.length; at += IDS_AT_ONCE) {
    const some = all.slice(at, at + IDS_AT_ONCE);
    view.take(await listIds(work, some), `look-up of ${some.length} order ids from ${shownId(some[0] ?? '')} on`);
  }
}

/** Returns the order that the status operation shows; undefined if none. */
export async function statusOf({ reads }: Reconciliation, orderUuid: string): Promise<Order | undefined> {
  const { order } = await reads.ask((service, options) => service.orderStatus({ order_uuid: orderUuid }, options));
  return order?.order_uuid === orderUuid ? order : undefined;
}

/** Returns true for possible ids of ours, follow-ups included. */
export const isOwnId = (id: string): boolean => /^[A-Za-z0-9._:-]{1,126}$/.test(id);

/** Returns an id for display: masked if it cannot be ours, because others may hold an e-mail. */
export const shownId = (id: string): string => (isOwnId(id) ? id : maskName(id));

export class ServiceView {
  readonly orders = new Map<string, OrderListItem>();
  /** Order_uuids by order id. More than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];

  /** Takes a page. `place`: its name in findings about unreadable entries. */
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

/** Returns what is unreadable or inconsistent in an order. */
function unreadableIn({ order_uuid: uuid, balance_changes: changes, unreadable }: OrderListItem): MalformedItem[] {
  const isUneven = ({ amount_before, amount_change, amount_after }: BalanceChange): boolean =>
    !decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));
  return [
    ...(unreadable ? [{ place: `order ${uuid}`, reason: `cannot be read: ${unreadable.join(', ')}` }] : []),
    ...changes.flatMap((change, index) => {
      const place = `order ${uuid}, balance change ${index + 1} of ${changes.length}`;
      return [
        ...(isUneven(change)
          ? [{ place, reason: 'amount_before and amount_change do not add up to amount_after' }]
          : []),
        ...(change.created_at ? [] : [{ place, reason: 'created_at is no date that can be read' }]),
      ];
    }),
  ];
}

export function addMalformed(totals: ReconcileTotals, items: readonly MalformedItem[]): void {
  totals.malformed.push(...items.slice(0, MAX_SHOWN - totals.malformed.length));
  totals.malformedCount += items.length;
}
