import type { FastifyInstance } from 'fastify';
import { Admin, type RequestRate, type SandboxOrder, type SandboxStats } from './admin.js';
import { Callbacks, type Post } from './callbacks.js';
import { Creates } from './create.js';
import { createAdminServer } from './http/admin-server.js';
import { createServiceServer } from './http/service-server.js';
import { Life } from './life.js';
import type { SandboxOptions, SettingsChange } from './options.js';
import type { Past } from './past.js';
import type { Regression } from './plan.js';
import type { Receipt } from './receipts.js';
import { Service } from './service.js';
import type { DepositAddress } from './stored.js';
import type { RequestLogEntry } from './traffic.js';
import { createWorld, type World } from './world.js';

export type { RequestRate, SandboxOrder, SandboxStats } from './admin.js';
export type { SandboxOptions, SandboxSettings, SettingsChange } from './options.js';
export type { Past } from './past.js';
export type { Receipt } from './receipts.js';
export type { BalanceChange, DepositAddress, OrderObject } from './stored.js';
export type { CallbackLogEntry, RequestLogEntry, RequestsOfSecond, TrafficLine } from './traffic.js';

/** A running double of the payment service. */
export interface Sandbox {
  /** Base URL of the service, without trailing slash. */
  readonly url: string;
  readonly adminUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Changes settings at once. Throws RangeError naming every bad field. */
  set(change: SettingsChange): void;
  stats(): SandboxStats;
  /** Requests per second so far, and the most that came within any `windowMs` (default 1000). */
  requestRate(windowMs?: number): RequestRate;
  /** Every order, removed ones included. */
  orders(): SandboxOrder[];
  /** Every permanent address, in the order of their creation. */
  addresses(): DepositAddress[];
  /** Balances by currency; decimal strings. */
  ledger(): Record<string, string>;
  /** Every request so far, oldest first. */
  requests(): RequestLogEntry[];
  /** Every open order becomes final now, whatever it waits for. */
  finishAll(): void;
  /** A deposit arrives at a permanent address. Throws RangeError on a bad receipt. */
  receiveDeposit(receipt: Receipt): SandboxOrder;
  /** Makes completed payouts of the past, with balance changes that lead to the balance of now. Throws RangeError after the first order. */
  addPast(past: Past): number;
  /** The order vanishes from status and lists; its balance changes stay, as a gap. Throws RangeError. */
  removeOrder(orderUuid: string): SandboxOrder;
  /** A final order turns into another status now, as `then` in a marker has it do later. Throws RangeError. */
  turnOrder(orderUuid: string, status: Regression): SandboxOrder;
  /** The payout of a final order comes back: its balance changes, and if `shown` (default), its `amount_to` is 0. Throws RangeError. */
  giveBack(orderUuid: string, shown?: boolean): SandboxOrder;
  /** Posts the order as it stands to its callback URL, once: the HTTP status, 0 without an answer. Throws RangeError. */
  sendCallback(orderUuid: string): Promise<number>;
  /** Stops at once; with a data directory a later start goes on where this one stopped. */
  close(): Promise<void>;
}

const listen = (server: FastifyInstance, port: number): Promise<string> => server.listen({ host: '127.0.0.1', port });

/** Makes stopping possible once, however often it is asked for. */
function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

/** Starts a sandbox on this machine's loopback address. Throws on bad settings, a taken port or a broken journal. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { world, admin, service, stop } = openDouble(options);
  const server = createServiceServer(world, service);
  const adminServer = createAdminServer(admin);
  const close = once(async () => {
    // Timers first: nothing may be written to a journal that is closed.
    stop();
    await Promise.all([server.close(), adminServer.close()]);
    world.store.close();
    world.traffic.close();
  });
  try {
    const url = await listen(server, world.options.port);
    const adminUrl = await listen(adminServer, world.options.adminPort);
    return sandboxOf(world, admin, { url, adminUrl, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** The double without ports: `service` answers requests, and `post` delivers callbacks (default: by HTTP). */
export function openDouble(options: SandboxOptions, post?: Post) {
  const world = createWorld(options);
  const callbacks = new Callbacks(world, post);
  const life = new Life(world, (order) => callbacks.deliver(order));
  const creates = new Creates(world, life);
  const admin = new Admin(world, life, callbacks);
  // What an earlier run left goes on before the first request, so that nothing new is taken for something left.
  for (const order of world.store.orders.values()) life.follow(order);
  creates.resume();
  callbacks.resume();
  const stop = () => {
    for (const part of [creates, life, callbacks]) part.stop();
  };
  return { world, admin, service: new Service(world, creates, life), stop };
}

/** What tests and programs may do with a double. `running`: where it is found, and what ends it. */
export function sandboxOf(world: World, admin: Admin, running: Pick<Sandbox, 'url' | 'adminUrl' | 'close'>): Sandbox {
  return {
    ...running,
    apiKey: world.options.apiKey,
    apiSecret: world.options.apiSecret,
    set: (change) => void admin.set(change),
    stats: () => admin.stats(),
    requestRate: (windowMs = 1000) => admin.rate(windowMs),
    orders: () => admin.orders(),
    addresses: () => admin.addresses(),
    ledger: () => admin.ledger(),
    requests: () => admin.requests(),
    finishAll: () => admin.finishAll(),
    receiveDeposit: (receipt) => admin.receive(receipt),
    addPast: (past) => admin.past(past),
    removeOrder: (orderUuid) => admin.remove(orderUuid),
    turnOrder: (orderUuid, status) => admin.turn(orderUuid, status),
    giveBack: (orderUuid, shown) => admin.giveBack(orderUuid, shown),
    // Async, so that an unknown order rejects instead of throwing.
    sendCallback: async (orderUuid) => admin.sendCallback(orderUuid),
  };
}
