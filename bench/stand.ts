import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { type DevServer, startDevServer } from '../scripts/temporal/dev-server.js';
import { registerSearchAttributes } from '../scripts/temporal/search-attributes.js';
import { loadEncryption } from '../src/config.js';
import type { PaymentOrders } from '../src/index.js';
import { dataConverter } from '../src/temporal.js';
import { type BenchProcess, startNode } from './processes.js';
import { compileOwn, loadLibrary, type Product } from './product.js';
import { SERVICE_KEYS, Service } from './service.js';

/** Settings of the polling. */
export const POLL = { often: '50ms', never: '5m' };
/** Key of the callbacks of a bench. */
export const TOKEN_KEY = 'token-key-of-the-bench';
const USABLE_WITHIN_MS = 60_000;

/** A dev server reads search attributes and namespaces anew for each event that names some: a cluster keeps them for a minute. */
const AS_IN_PRODUCTION = { 'system.forceSearchAttributesCacheRefreshOnRead': false };

/** What workers of the product are told. */
export interface OurSettings {
  /** Another build than our own. */
  product?: Product;
  /** Another service than the one that all share. */
  service?: Service;
  /** False: orders are followed by polling alone. */
  callbacks?: boolean;
  encrypted?: boolean;
  /** Worker processes. */
  workers?: number;
  /** More settings of the environment. */
  env?: Record<string, string>;
  /** Node's own arguments. */
  nodeArgs?: readonly string[];
}

/** A namespace with processes in it. */
export interface Site {
  workers: readonly BenchProcess[];
  client: Client;
  stop(): Promise<void>;
}

/** One of the product. */
export interface OurSite extends Site {
  orders: PaymentOrders;
  service: Service;
}

/** The one server, and the one service, of everything that is compared. */
export class Stand {
  readonly #running = new Set<{ stop(): Promise<void> }>();

  private constructor(
    private readonly server: DevServer,
    private readonly connection: Connection,
    readonly service: Service,
    /** The product as it stands. */
    readonly own: Product,
    private readonly seed: string,
  ) {}

  /** Compiles the product and starts server and service, as processes of their own. Close it. */
  static async open(say: (line: string) => void, seed: string): Promise<Stand> {
    say('compiling the product');
    const own = await compileOwn();
    const server = await startDevServer({ log: say, dynamicConfig: AS_IN_PRODUCTION });
    const connection = await Connection.connect({ address: server.address });
    return new Stand(server, connection, await Service.start(seed), own, seed);
  }

  get serverPid(): number {
    return this.server.pid;
  }

  get address(): string {
    return this.server.address;
  }

  /** Such as 1.29.1. */
  async serverVersion(): Promise<string> {
    return (await this.connection.workflowService.getSystemInfo({})).serverVersion ?? 'unknown';
  }

  /** A service that is asked by nobody else. */
  async anotherService(settings?: Parameters<typeof Service.start>[1]): Promise<Service> {
    const service = await Service.start(this.seed, settings);
    this.#running.add(service.process);
    return service;
  }

  /** Workers and a receiver of the product, in a namespace of that name. */
  async ours(name: string, settings: OurSettings = {}): Promise<OurSite> {
    const { product = this.own, service = this.service, callbacks = true, encrypted = false } = settings;
    const { client, env } = await this.#namespace(name);
    const keys: Record<string, string> = encrypted
      ? { PAYLOAD_ENCRYPTION: 'required', PAYLOAD_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
      : {};
    const receiver = callbacks ? await this.receiver(product, { ...env, ...keys }) : undefined;
    const workerEnv = {
      ...{ ...env, ...keys, PAYMENT_BASE_URL: service.url, PAYMENT_SIGNER: 'hmac-sha256' },
      ...{ PAYMENT_API_KEY: SERVICE_KEYS.apiKey, PAYMENT_API_SECRET: SERVICE_KEYS.apiSecret },
      ...{ ORDER_POLL_INITIAL: callbacks ? POLL.never : POLL.often, ORDER_POLL_MAX: POLL.never },
      ...(receiver && { CALLBACK_BASE_URL: receiver.ready.receiver ?? '', CALLBACK_TOKEN_KEY: TOKEN_KEY }),
      ...settings.env,
    };
    const args = [...(settings.nodeArgs ?? []), join(product.dist, 'worker.js')];
    const start = () => this.node(args, workerEnv, product.root);
    const workers = await Promise.all(Array.from({ length: settings.workers ?? 1 }, start));
    const { library, temporal } = await loadLibrary(product);
    const connection = await temporal.Connection.connect({ address: this.address });
    const options = { connection, namespace: name, dataConverter: dataConverter(loadEncryption(keys)) };
    const orders = new library.PaymentOrders(new temporal.Client(options));
    return this.#site({ workers, client, orders, service }, [...workers, ...(receiver ? [receiver] : [])]);
  }

  /** A worker of the floor's workflows, and a receiver, in a namespace of that name. */
  async floor(name: string): Promise<Site> {
    const { client, env } = await this.#namespace(name);
    const receiver = await this.receiver(this.own, env);
    const service = { ...SERVICE_KEYS, baseUrl: this.service.url, tokenKey: TOKEN_KEY };
    const FLOOR_SERVICE = JSON.stringify({ ...service, callbackBaseUrl: receiver.ready.receiver });
    const worker = await this.node(['--import', 'tsx', 'bench/floor/worker.ts'], { ...env, FLOOR_SERVICE });
    return this.#site({ workers: [worker], client }, [worker, receiver]);
  }

  /** A namespace without processes, and what tells them of it. */
  async emptyNamespace(name: string) {
    return this.#namespace(name);
  }

  /** A receiver of a build; `env`: where Temporal is. */
  receiver({ dist, root }: Product, env: Record<string, string>): Promise<BenchProcess> {
    const settings = { CALLBACK_PORT: '0', CALLBACK_TOKEN_KEY: TOKEN_KEY };
    return this.node([join(dist, 'receiver.js')], { ...env, ...settings }, root);
  }

  /** A process that ends with the stand at the latest. */
  async node(args: string[], env: Record<string, string>, cwd?: string): Promise<BenchProcess> {
    const started = await startNode(args, env, cwd);
    this.#running.add(started);
    return started;
  }

  /** Stops what a part has started and not stopped. */
  async clear(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((one) => one.stop()));
  }

  /** Connections stay open until this process exits: an SDK retry on a closed one throws where nobody can catch it. */
  async close(): Promise<void> {
    await this.clear();
    await this.service.process.stop();
    await this.server.stop();
  }

  #site<T extends object>(site: T, processes: BenchProcess[]) {
    const stop = async (): Promise<void> => {
      for (const one of processes) this.#running.delete(one);
      await Promise.all(processes.map((one) => one.stop()));
    };
    return { ...site, stop };
  }

  /** Task queues have fixed names: whatever shares a namespace takes the work of the others. */
  async #namespace(namespace: string) {
    const { connection } = this;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await untilUsable(() => registerSearchAttributes(connection, namespace));
    const client = new Client({ connection, namespace });
    await untilUsable(() => client.workflow.count('PaymentNeedsAttention = true'));
    return { client, env: { TEMPORAL_ADDRESS: this.address, TEMPORAL_NAMESPACE: namespace } };
  }
}

async function untilUsable(use: () => Promise<unknown>): Promise<void> {
  for (const begun = Date.now(); ; ) {
    try {
      await use();
      return;
    } catch (error) {
      if (Date.now() - begun > USABLE_WITHIN_MS) throw error;
      await sleep(200);
    }
  }
}
