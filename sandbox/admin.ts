import type { Callbacks } from './callbacks.js';
import { isFinal, type Life } from './life.js';
import { changeSettings, type SandboxSettings } from './options.js';
import { addPast, type Past } from './past.js';
import type { Regression } from './plan.js';
import { type Receipt, receiveDeposit } from './receipts.js';
import type { BalanceChange, DepositAddress, OrderObject, StoredOrder } from './stored.js';
import type { RequestLogEntry, RequestsOfSecond } from './traffic.js';
import type { World } from './world.js';

/** Counters of a sandbox. Records by order id or path. */
export interface SandboxStats {
  requestsByPath: Record<string, number>;
  /** Valid create requests received. */
  createsByOrderId: Record<string, number>;
  /** Orders that exist: more than 1 means executed twice. */
  executedByOrderId: Record<string, number>;
  callbacksSent: number;
  callbacksAcked: number;
  redirectHits: number;
}

/** An order as tests see it: what the service shows, what it caused, and what is really left of it. */
export interface SandboxOrder {
  order: OrderObject;
  balance_changes: BalanceChange[];
  truth: StoredOrder['truth'];
  /** The service shows it no more. */
  removed?: true;
}

/** The request rate as the service sees it. */
export interface RequestRate {
  /** Seconds that had requests, oldest first. */
  perSecond: RequestsOfSecond[];
  /** The most requests within any time span of the length asked for. */
  busiest: number;
}

/** Looking into a running sandbox and changing it. */
export class Admin {
  constructor(
    private readonly world: World,
    private readonly life: Life,
    private readonly callbacks: Callbacks,
  ) {}

  stats(): SandboxStats {
    const { store, traffic, redirectHits } = this.world;
    // Keys with a NUL stand for addresses and receipts, which no create of an order names.
    const created = [...store.watches].filter(([key, { creates }]) => creates > 0 && !key.includes('\0'));
    return {
      requestsByPath: Object.fromEntries(traffic.requestsByPath),
      createsByOrderId: Object.fromEntries(created.map(([id, { creates }]) => [id, creates])),
      executedByOrderId: Object.fromEntries([...store.uuidsByOrderId].map(([id, uuids]) => [id, uuids.length])),
      callbacksSent: traffic.callbacksSent,
      callbacksAcked: traffic.callbacksAcked,
      redirectHits,
    };
  }

  /** The request rate; `windowMs` is the time span for `busiest`. */
  rate(windowMs: number): RequestRate {
    const { traffic } = this.world;
    return { perSecond: traffic.perSecond(), busiest: traffic.busiest(windowMs) };
  }

  /** Every request since then (ms since the epoch), in the order in which they came. */
  requests(sinceMs = 0): RequestLogEntry[] {
    return this.world.traffic.requests.filter(({ atMs }) => atMs >= sinceMs);
  }

  /** Every open order becomes final now. */
  finishAll(): void {
    this.life.finishAll();
  }

  /** Every order, or those under an order id; removed ones included. */
  orders(orderId?: string): SandboxOrder[] {
    const { store } = this.world;
    const uuids = orderId === undefined ? [...store.orders.keys()] : (store.uuidsByOrderId.get(orderId) ?? []);
    return uuids.flatMap((uuid) => store.orders.get(uuid) ?? []).map((stored) => this.#shownToTests(stored));
  }

  addresses(): DepositAddress[] {
    return [...this.world.store.addresses.values()];
  }

  ledger(): Record<string, string> {
    return this.world.store.ledger.all();
  }

  settings(): SandboxSettings {
    return this.world.settings;
  }

  /** Changes settings at once. Throws RangeError naming every bad field; then nothing is changed. */
  set(change: unknown): SandboxSettings {
    const before = this.world.settings.balances;
    this.world.settings = changeSettings(this.world.settings, change);
    const { balances } = this.world.settings;
    if (balances !== before) this.world.store.keep({ kind: 'balances', balances, atMs: Date.now() });
    return this.world.settings;
  }

  /** Throws RangeError on a bad receipt. */
  receive(receipt: Receipt): SandboxOrder {
    return this.#shownToTests(receiveDeposit(this.world, this.life, receipt));
  }

  /** Makes payouts of the past; how many. Throws RangeError where there are orders already. */
  past(past: Past): number {
    return addPast(this.world, past);
  }

  /** Removes an order from status and lists; its balance changes stay. Throws RangeError when there is none. */
  remove(orderUuid: string): SandboxOrder {
    const stored = this.#stored(orderUuid);
    this.world.store.keep({ kind: 'removed', orderUuid });
    return this.#shownToTests(stored);
  }

  /** A final order turns into another status now. Throws RangeError when there is none, or when it is not final. */
  turn(orderUuid: string, status: Regression): SandboxOrder {
    if (!isFinal(this.#stored(orderUuid).order.status)) throw new RangeError('the order is not final');
    this.life.regress(orderUuid, status);
    return this.#shownToTests(this.#stored(orderUuid));
  }

  /** The payout of a final order comes back now. Throws RangeError for an order that paid nothing out. */
  giveBack(orderUuid: string, shown = true): SandboxOrder {
    this.life.giveBack(orderUuid, shown);
    return this.#shownToTests(this.#stored(orderUuid));
  }

  /** Posts an order's callback now, early, late or again: the HTTP status, 0 without an answer. Throws RangeError. */
  sendCallback(orderUuid: string): Promise<number> {
    return this.callbacks.sendNow(this.#stored(orderUuid));
  }

  #stored(orderUuid: string): StoredOrder {
    const stored = this.world.store.orders.get(orderUuid);
    if (!stored) throw new RangeError('no such order');
    return stored;
  }

  #shownToTests({ order, balanceChanges, truth }: StoredOrder): SandboxOrder {
    const removed = this.world.store.removed.has(order.order_uuid);
    return { order, balance_changes: balanceChanges, truth, ...(removed && { removed }) };
  }
}
