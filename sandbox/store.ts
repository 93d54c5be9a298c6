import type { DepositAddress } from './addresses.js';
import { Journal, type JournalRecord } from './journal.js';
import { Ledger } from './ledger.js';
import { type Marker, readMarker } from './markers.js';
import type { StoredOrder } from './orders.js';
import type { OrderType } from './rates.js';
import type { CreateBody } from './requests.js';

/** A create that was received, answered with a failure, and is executed only later. */
export interface QueuedCreate {
  id: string;
  type: OrderType;
  body: CreateBody;
  dueAtMs: number;
}

/** What was seen of an order id, whether or not an order exists: how faults know the how-manieth request it is. */
export interface Watch {
  marker: Marker;
  creates: number;
  firstCreateAtMs: number;
  looks: { status: number; list: number };
}

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
  readonly addresses = new Map<string, DepositAddress>();
  readonly queued = new Map<string, QueuedCreate>();
  readonly watches = new Map<string, Watch>();
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

  /** Orders under an order id, oldest first. More than one means: the service executed twice. */
  ordersOf(orderId: string): StoredOrder[] {
    return (this.uuidsByOrderId.get(orderId) ?? []).flatMap((uuid) => this.orders.get(uuid) ?? []);
  }

  close(): void {
    this.#journal?.close();
  }

  #take(record: JournalRecord): void {
    switch (record.kind) {
      case 'order':
        this.#takeOrder(record.order);
        return;
      case 'create':
        this.#takeCreate(record.orderId, record.description, record.atMs);
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

  #takeOrder(order: StoredOrder): void {
    const { order_uuid: uuid, user_order_id: orderId } = order.order;
    const uuids = this.uuidsByOrderId.get(orderId) ?? [];
    if (!uuids.includes(uuid)) this.uuidsByOrderId.set(orderId, [...uuids, uuid]);
    this.orders.set(uuid, order);
    if (!this.watches.has(orderId)) this.#watch(orderId, order.order.description, order.createdAtMs, 0);
    // An order is kept with changes exactly once, when it becomes final; the journal's order is the ledger's.
    for (const change of order.balanceChanges) this.ledger.set(change.currency, change.amount_after, order.finalAtMs);
  }

  #takeCreate(orderId: string, description: string | null, atMs: number): void {
    const known = this.watches.get(orderId);
    if (known) known.creates += 1;
    else this.#watch(orderId, description, atMs, 1);
  }

  #watch(orderId: string, description: string | null, firstCreateAtMs: number, creates: number): void {
    const looks = { status: 0, list: 0 };
    this.watches.set(orderId, { marker: readMarker(description), creates, firstCreateAtMs, looks });
  }
}
