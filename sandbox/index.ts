import type { FastifyInstance } from 'fastify';
import type { Receipt } from './addresses.js';
import { Admin, type SandboxOrder, type SandboxStats } from './admin.js';
import { Callbacks } from './callbacks.js';
import { Creates } from './create.js';
import { createAdminServer } from './http/admin-server.js';
import { createServiceServer } from './http/service-server.js';
import { Life } from './life.js';
import {
  changeSettings,
  DEFAULT_SETTINGS,
  SANDBOX_API_KEY,
  SANDBOX_API_SECRET,
  type SandboxOptions,
  type SettingsChange,
} from './options.js';
import { Service } from './service.js';
import { Store } from './store.js';
import { type RequestLogEntry, Traffic } from './traffic.js';
import type { World } from './world.js';

export type { Receipt } from './addresses.js';
export type { SandboxOrder, SandboxStats } from './admin.js';
export type { SandboxOptions, SandboxSettings, SettingsChange } from './options.js';
export type { BalanceChange, OrderObject } from './orders.js';
export type { CallbackLogEntry, RequestLogEntry, TrafficLine } from './traffic.js';

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
  orders(): SandboxOrder[];
  /** Every request so far, oldest first. */
  requests(): RequestLogEntry[];
  /** A deposit arrives at a permanent address. Throws RangeError on a bad receipt. */
  receiveDeposit(receipt: Receipt): SandboxOrder;
  /** Stops at once; with a data directory a later start goes on where this one stopped. */
  close(): Promise<void>;
}

function createWorld(options: SandboxOptions): World {
  const settings = changeSettings(DEFAULT_SETTINGS, options.settings ?? {});
  return {
    options: {
      port: options.port ?? 0,
      adminPort: options.adminPort ?? 0,
      apiKey: options.apiKey ?? SANDBOX_API_KEY,
      apiSecret: options.apiSecret ?? SANDBOX_API_SECRET,
      signer: options.signer ?? 'hmac-sha256',
      seed: options.seed ?? '1',
      timeScale: options.timeScale ?? 1,
    },
    store: new Store(options.dataDir, settings.balances),
    settings,
    traffic: new Traffic(options.dataDir),
    draws: new Map(),
    redirectHits: 0,
  };
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
  const world = createWorld(options);
  const callbacks = new Callbacks(world);
  const life = new Life(world, (order) => callbacks.deliver(order));
  const creates = new Creates(world, life);
  const admin = new Admin(world, life);
  const server = createServiceServer(world, new Service(world, creates));
  const adminServer = createAdminServer(admin);
  const close = once(async () => {
    // Timers first: nothing may be written to a journal that is closed.
    for (const part of [creates, life, callbacks]) part.stop();
    await Promise.all([server.close(), adminServer.close()]);
    world.store.close();
    world.traffic.close();
  });
  // What an earlier run left goes on before the first request, so that nothing new is taken for something left.
  for (const order of world.store.orders.values()) life.follow(order);
  creates.resume();
  callbacks.resume();
  try {
    const url = await listen(server, world.options.port);
    const adminUrl = await listen(adminServer, world.options.adminPort);
    return describe(world, admin, { url, adminUrl, close });
  } catch (error) {
    await close();
    throw error;
  }
}

function describe(world: World, admin: Admin, running: Pick<Sandbox, 'url' | 'adminUrl' | 'close'>): Sandbox {
  return {
    ...running,
    apiKey: world.options.apiKey,
    apiSecret: world.options.apiSecret,
    set: (change) => void admin.set(change),
    stats: () => admin.stats(),
    orders: () => admin.orders(),
    requests: () => [...world.traffic.requests],
    receiveDeposit: (receipt) => admin.receive(receipt),
  };
}
