import { Journal, type JournalRecord } from './journal.js';
import { Ledger } from './ledger.js';
import { type Marker, readMarker } from './markers.js';
import { OrderIndex } from './order-index.js';
import type { DepositAddress, QueuedCreate, StoredOrder, Watch } from './stored.js';

/** How far the callback of an order has come. */
export interface CallbackProgress {
  attempts: number;
  acked: boolean;
  done: boolean;
}

/** Everything the sandbox remembers. What outlives a kill goes through the journal first. */
export class Store {
  readonly orders = new Map<string, StoredOrder>();
  readonly uuidsByOrderId = new Map<string, string[]>();
  /** By order uuid: gone from status and lists, while their balance changes stay. */
  readonly removed = new Set<string>();
  readonly index = new OrderIndex();
  readonly addresses = new Map<string, DepositAddress>();
  /** First order of each permanent address, by the address's uuid. */
  readonly firstOrders = new Map<string, string>();
  receipts = 0;
  readonly queued = new Map<string, QueuedCreate>();
  /** By key: the order id, or what stands for it where there is none. */
  readonly watches = new Map<string, Watch>();
  /** Keys of the orders whose marker has a fault for lists, and of those that lag by their marker. */
  readonly markedForLists = new Set<string>();
  readonly lagging = new Set<string>();
  readonly callbacks = new Map<string, CallbackProgress>();
  readonly ledger: Ledger;
  readonly #journal: Journal | undefined;

  constructor(dataDir: string | undefined, balances: Readonly<Record<string, string>>) {
    this.ledger = new Ledger(balances, Date.now());
    const journal = dataDir === undefined ? undefined : new Journal(dataDir);
    for (const record of journal?.earlier ?? []) this.#take(record);
    this.#journal = journal;
  }

  /** Keeps a record, on disk before in memory. */
  keep(record: JournalRecord): void {
    this.#journal?.append(record);
    this.#take(record);
  }

  /** Orders under an order id, oldest first, removed ones left out. More than one means: the service executed twice. */
  ordersOf(orderId: string): StoredOrder[] {
    return (this.uuidsByOrderId.get(orderId) ?? []).flatMap((uuid) => this.shown(uuid) ?? []);
  }

  /** An order that was not removed. */
  shown(uuid: string): StoredOrder | undefined {
    return this.removed.has(uuid) ? undefined : this.orders.get(uuid);
  }

  markerOf(key: string): Marker {
    return this.watches.get(key)?.marker ?? {};
  }

  close(): void {
    this.#journal?.close();
  }

  #take(record: JournalRecord): void {
    switch (record.kind) {
      case 'order':
        this.#takeOrder(record.order);
        return;
      case 'removed':
        this.removed.add(record.orderUuid);
        this.index.remove(record.orderUuid);
        return;
      case 'create':
        this.#watch(record.key, record.description).creates += 1;
        return;
      case 'queued':
        this.queued.set(record.create.id, record.create);
        return;
      case 'unqueued':
        this.queued.delete(record.id);
        return;
      case 'address':
        this.addresses.set(record.address.uuid, record.address);
        return;
      case 'balances':
        for (const [currency, amount] of Object.entries(record.balances))
          this.ledger.set(currency, amount, record.atMs);
        return;
      case 'callback':
        this.callbacks.set(record.orderUuid, record);
    }
  }

  #takeOrder(stored: StoredOrder): void {
    const { order_uuid: uuid } = stored.order;
    const known = this.orders.get(uuid);
    if (!known) this.#takeNewOrder(stored);
    this.orders.set(uuid, stored);
    this.index.put(stored);
    // An order gets its changes when it becomes final, and another one if its payout comes back.
    const booked = known?.balanceChanges.length ?? 0;
    for (const change of stored.balanceChanges.slice(booked)) {
      this.ledger.set(change.currency, change.amount_after, stored.finalAtMs);
    }
  }

  #takeNewOrder({ order, key, addressUuid }: StoredOrder): void {
    const { order_uuid: uuid, user_order_id: orderId } = order;
    this.#watch(key, order.description);
    // Receipts may have no order id, which is not an id they share.
    if (orderId !== '') this.uuidsByOrderId.set(orderId, [...(this.uuidsByOrderId.get(orderId) ?? []), uuid]);
    if (addressUuid === undefined) return;
    this.receipts += 1;
    if (!this.firstOrders.has(addressUuid)) this.firstOrders.set(addressUuid, uuid);
  }

  /** What is known about a key; from the first time on. */
  #watch(key: string, description: string | null): Watch {
    const known = this.watches.get(key);
    if (known) return known;
    const watch = { marker: readMarker(description), creates: 0, looks: { status: 0, list: 0 } };
    this.watches.set(key, watch);
    const { list, lag_ms, status_lag_ms, list_lag_ms } = watch.marker;
    if (list !== undefined) this.markedForLists.add(key);
    if (lag_ms ?? status_lag_ms ?? list_lag_ms) this.lagging.add(key);
    return watch;
  }
}
