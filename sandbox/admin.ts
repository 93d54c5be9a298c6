import { type Receipt, receiveDeposit } from './addresses.js';
import type { Life } from './life.js';
import { changeSettings, type SandboxSettings } from './options.js';
import type { BalanceChange, OrderObject, StoredOrder } from './orders.js';
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
}

/** Looking into a running sandbox and changing it. */
export class Admin {
  constructor(
    private readonly world: World,
    private readonly life: Life,
  ) {}

  stats(): SandboxStats {
    const { store, traffic, redirectHits } = this.world;
    const requestsByPath = new Map<string, number>();
    for (const { path } of traffic.requests) requestsByPath.set(path, (requestsByPath.get(path) ?? 0) + 1);
    return {
      requestsByPath: Object.fromEntries(requestsByPath),
      createsByOrderId: Object.fromEntries([...store.watches].map(([id, { creates }]) => [id, creates])),
      executedByOrderId: Object.fromEntries([...store.uuidsByOrderId].map(([id, uuids]) => [id, uuids.length])),
      callbacksSent: traffic.callbacksSent,
      callbacksAcked: traffic.callbacksAcked,
      redirectHits,
    };
  }

  orders(orderId?: string): SandboxOrder[] {
    const { store } = this.world;
    const stored = orderId === undefined ? [...store.orders.values()] : store.ordersOf(orderId);
    return stored.map(({ order, balanceChanges, truth }) => ({ order, balance_changes: balanceChanges, truth }));
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
    const { order, balanceChanges, truth } = receiveDeposit(this.world, this.life, receipt);
    return { order, balance_changes: balanceChanges, truth };
  }
}
