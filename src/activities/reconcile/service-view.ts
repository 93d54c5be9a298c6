import { maskName } from '../../contract/masking.js';
import type { OrderListItem } from '../../contract/order/order.js';
import { isFinal } from '../../contract/order/order.js';
import type { MalformedItem, ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import type { Page } from '../../payment-service/index.js';
import { addsUp } from './balance-chain.js';

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

/** An order of the service as far as it is compared: a hundred thousand of them must fit into memory. */
export type SeenOrder = Pick<OrderListItem, (typeof KEPT)[number]> & {
  /** The whole item, of orders that are not final: a follower may have to be started from it. */
  item?: OrderListItem;
};

/** What an item keeps of itself. */
export function seen(item: OrderListItem): SeenOrder {
  const kept = Object.fromEntries(KEPT.map((field) => [field, item[field]])) as unknown as SeenOrder;
  return isFinal(item.status) ? kept : { ...kept, item };
}

/** Everything one pass read from the order list; each order once, as it was read last. */
export class ServiceView {
  readonly orders = new Map<string, SeenOrder>();
  /** The order_uuids under an order id; more than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];
  readonly notes = new Set<string>();

  constructor(readonly progress: ReconcileProgress) {}

  /** Takes a page; `place` says where it was, for what cannot be read on it. */
  take(page: Page<OrderListItem>, place: string): void {
    for (const item of page.items) {
      // Windows share their boundaries: what is wrong with an order is said once.
      if (!this.orders.has(item.order_uuid)) this.#check(item);
      this.orders.set(item.order_uuid, seen(item));
      const uuids = this.uuidsById.get(item.user_order_id) ?? new Set();
      this.uuidsById.set(item.user_order_id, uuids.add(item.order_uuid));
    }
    for (const { index, reason } of page.malformed) {
      this.malformed.push({ place: `${place}, item ${index + 1} of ${page.total}`, reason });
    }
    this.progress.seen = this.orders.size;
  }

  #check({ order_uuid: uuid, balance_changes: changes }: OrderListItem): void {
    for (const [index, change] of changes.entries()) {
      if (addsUp(change)) continue;
      const place = `order ${uuid}, balance change ${index + 1} of ${changes.length}`;
      this.malformed.push({ place, reason: 'amount_before and amount_change do not add up to amount_after' });
    }
  }
}
