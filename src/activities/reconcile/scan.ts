import type { Client } from '@temporalio/client';
import { maskName } from '../../contract/masking.js';
import { isFormOfId } from '../../contract/names.js';
import type { MalformedItem, ReconcileAccountInput, ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import {
  type Balance,
  type Balances,
  isFinal,
  type Order,
  type OrderListItem,
} from '../../contract/service-objects.js';
import { PaymentServiceError } from '../../payment-service/errors.js';
import { type Page, wholeList } from '../../payment-service/paging.js';
import { MAX_ORDERS_PER_PAGE } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { balanceIn } from '../order/balances.js';
import { ordersOfIds } from '../orders-of-ids.js';
import type { PacedReads } from '../paced-reads.js';
import { addsUp } from './balance-chain.js';
import type { BalanceFold } from './balance-fold.js';
import type { Kept } from './kept.js';
import type { OurRun } from './our-runs.js';
import type { SeenIds } from './seen-ids.js';

/** Half a page: where the service executed an order twice, both must fit onto it. */
export const IDS_AT_ONCE = 500;

/** What the steps of one reconciliation work with. */
export interface Reconciliation {
  account: Account;
  client: Client;
  reads: PacedReads;
  input: ReconcileAccountInput;
  progress: ReconcileProgress;
  kept: Kept;
  /** Leaves what is kept now to an attempt after this one. */
  keep: () => void;
  /** Ids of the orders that windows showed to this attempt: of receipts the order_uuid, too. */
  ids: SeenIds;
  fold: BalanceFold;
  receiptOf: Scan['receiptOf'];
}

/** A receipt. `ref`: of our address; `claimed`: in a callback URL that is not proven ours. */
export interface Receipt {
  ref?: string;
  claimed?: string;
}

/** Balances before and after a scan; absent where the service gave no answer. */
export type BalancesSeen = ReadonlyMap<string, { before?: Balance; after?: Balance }>;

/** Some orders of the service, and our runs that may be theirs. */
export interface Scan {
  view: ServiceView;
  runs: ReadonlyMap<string, OurRun>;
  /** Finds the permanent address that an order is a receipt on; undefined for every other order. */
  receiptOf: (order: SeenOrder) => Promise<Receipt | undefined>;
}

/** Looks orders up by their ids, each named once. */
export async function readIds({ reads }: Reconciliation, view: ServiceView, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE);
    // One that the service shows under another form of its id is compared, and reported, as what it is.
    const isAsked = (id: string) => some.some((asked) => isFormOfId(id, asked));
    const page = await wholeList(ordersOfIds(some, reads.orders(), MAX_ORDERS_PER_PAGE, isAsked));
    view.take(page, `look-up of ${some.length} order ids from ${shownId(some[0] ?? '')} on`);
  }
}

/** True when a view holds the order of a run. */
export const isSeen = (view: ServiceView, { received, orderId }: OurRun): boolean =>
  received ? view.orders.has(orderId) : view.uuidsById.has(orderId);

/** An order by the status operation; undefined where that does not show it. */
export async function statusOf({ reads }: Reconciliation, orderUuid: string): Promise<Order | undefined> {
  const { order } = await reads.ask((service, options) => service.orderStatus({ order_uuid: orderUuid }, options));
  return order?.order_uuid === orderUuid ? order : undefined;
}

/** Balances are a help and no condition: without an answer they are not compared. */
export async function balancesOf({
  account,
  reads,
  progress,
}: Pick<Reconciliation, 'account' | 'reads' | 'progress'>): Promise<Balances | undefined> {
  progress.step = 'reading balances';
  try {
    return await reads.ask((_, options) => account.service.balances(options));
  } catch (error) {
    if (error instanceof PaymentServiceError) return undefined;
    throw error;
  }
}

/** One that cannot be read is there all the same, with neither: it is not empty. */
export function together(before?: Balances, after?: Balances): BalancesSeen | undefined {
  if (!before || !after) return undefined;
  const currencies = new Set([...Object.keys(before), ...Object.keys(after)]);
  const both = (name: string) => ({ before: balanceIn(before, name), after: balanceIn(after, name) });
  return new Map([...currencies].map((name) => [name, both(name)]));
}

const KEPT = [
  'order_uuid',
  'user_order_id',
  'order_type',
  'status',
  'amount_from',
  'amount_to',
  'amount_from_fee',
  'amount_to_fee',
  'currency_from',
  'currency_to',
  'deposit_address',
  'deposit_memo',
  'created_at',
  'start_order_at',
  'balance_changes',
] as const satisfies (keyof OrderListItem)[];

/** The ids of orders that others named may be anything; only these can be ids of ours, follow-ups included. */
export const isOwnId = (id: string): boolean => /^[A-Za-z0-9._:-]{1,126}$/.test(id);

/** Ids that others chose may hold anything, such as an e-mail: what could not be an id of ours is masked. */
export const shownId = (id: string): string => (isOwnId(id) ? id : maskName(id));

/** An order of the service as far as it is compared. */
export type SeenOrder = Pick<OrderListItem, (typeof KEPT)[number]> & {
  /** The whole item, of orders that are not final: a follower may have to be started from it. */
  item?: OrderListItem;
};

/** What an item keeps of itself. */
export function seen(item: OrderListItem): SeenOrder {
  const kept = Object.fromEntries(KEPT.map((field) => [field, item[field]])) as unknown as SeenOrder;
  return isFinal(item.status) ? kept : { ...kept, item };
}

/** What a few answers of the order list hold; each order once, as it was read last. */
export class ServiceView {
  readonly orders = new Map<string, SeenOrder>();
  /** The order_uuids under an order id; more than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];

  /** Takes a page; `place` says where it was, for what cannot be read on it. */
  take(page: Page<OrderListItem>, place: string): void {
    for (const item of page.items) {
      if (!this.orders.has(item.order_uuid)) this.#check(item);
      this.#put(seen(item));
    }
    for (const { index, reason } of page.malformed) {
      this.malformed.push({ place: `${place}, item ${index + 1} of ${page.total}`, reason });
    }
  }

  /** Takes over orders that only another view knows. */
  learn({ orders }: ServiceView): void {
    for (const order of orders.values()) if (!this.orders.has(order.order_uuid)) this.#put(order);
  }

  #put(order: SeenOrder): void {
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
