import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { buildProduct, ROOT } from '../chaos/product.js';
import { ServiceAdmin } from '../chaos/service-admin.js';
import { type DevServer, startDevServer } from '../scripts/temporal/dev-server.js';
import { registerSearchAttributes } from '../scripts/temporal/search-attributes.js';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';
import { PaymentOrders } from '../src/client.js';
import { loadEncryption } from '../src/config.js';
import { dataConverter } from '../src/temporal.js';
import { bundleFile } from '../src/worker/bundle.js';
import { type BenchProcess, startNode } from './processes.js';

/** Long enough for a poll to be asked five times, at 50 ms and after waits that double. */
const DURATIONS_MS = { pay: 300, execute: 900 };
const POLL = { often: '50ms', never: '5m' };
const TOKEN_KEY = 'token-key-of-the-bench';
const SERVICE_KEYS = { apiKey: 'bench-key', apiSecret: 'bench-secret-of-32-characters-00' };
const USABLE_WITHIN_MS = 60_000;
/** The compiled product. */
const DIST = join(ROOT, 'node_modules', '.cache', 'bench');

/** What the product's worker is told. */
export interface OurSettings {
  /** False: orders are followed by polling alone. */
  callbacks?: boolean;
  encrypted?: boolean;
}

/** The one server and the one service of everything that is compared. */
export class Stand {
  readonly #processes: BenchProcess[] = [];

  private constructor(
    private readonly server: DevServer,
    private readonly connection: Connection,
    private readonly sandbox: BenchProcess,
  ) {}

  /** Compiles the product and starts server and service, as processes of their own. Close it. */
  static async open(say: (line: string) => void): Promise<Stand> {
    say('compiling the product');
    await buildProduct(DIST);
    await writeFile(join(DIST, bundleFile('required')), (await buildWorkflowBundle('required')).code);
    const server = await startDevServer({ log: say });
    const connection = await Connection.connect({ address: server.address });
    const sandbox = await startNode(['--import', 'tsx', 'sandbox/main.ts'], {
      ...{ SANDBOX_PORT: '0', SANDBOX_ADMIN_PORT: '0' },
      ...{ SANDBOX_API_KEY: SERVICE_KEYS.apiKey, SANDBOX_API_SECRET: SERVICE_KEYS.apiSecret },
    });
    await new ServiceAdmin(sandbox.ready.admin ?? '').set({ durationsMs: DURATIONS_MS });
    return new Stand(server, connection, sandbox);
  }

  get serverPid(): number {
    return this.server.pid;
  }

  /** How many requests the service got so far. */
  async requests(): Promise<number> {
    const answer = await fetch(`${this.sandbox.ready.admin}/state`);
    const { requestsByPath } = (await answer.json()) as { requestsByPath: Record<string, number> };
    return Object.values(requestsByPath).reduce((sum, count) => sum + count, 0);
  }

  /** Worker and receiver of the product, in a namespace of that name. */
  async ours(name: string, { callbacks = true, encrypted = false }: OurSettings) {
    const { client, env } = await this.#namespace(name);
    const keys: Record<string, string> = encrypted
      ? { PAYLOAD_ENCRYPTION: 'required', PAYLOAD_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
      : {};
    const worker = await this.#start([join(DIST, 'worker.js')], {
      ...{ ...env, ...keys, PAYMENT_BASE_URL: this.sandbox.ready.service ?? '', PAYMENT_SIGNER: 'hmac-sha256' },
      ...{ PAYMENT_API_KEY: SERVICE_KEYS.apiKey, PAYMENT_API_SECRET: SERVICE_KEYS.apiSecret },
      ...{ ORDER_POLL_INITIAL: callbacks ? POLL.never : POLL.often, ORDER_POLL_MAX: POLL.never },
      ...(callbacks && { CALLBACK_BASE_URL: await this.#receiver({ ...env, ...keys }), CALLBACK_TOKEN_KEY: TOKEN_KEY }),
    });
    const options = {
      connection: this.connection,
      namespace: name,
      dataConverter: dataConverter(loadEncryption(keys)),
    };
    return { worker, client, orders: new PaymentOrders(new Client(options)) };
  }

  /** A worker of the floor's workflows, and a receiver, in a namespace of that name. */
  async floor(name: string) {
    const { client, env } = await this.#namespace(name);
    const service = {
      ...{ ...SERVICE_KEYS, baseUrl: this.sandbox.ready.service, tokenKey: TOKEN_KEY },
      callbackBaseUrl: await this.#receiver(env),
    };
    const FLOOR_SERVICE = JSON.stringify(service);
    const worker = await this.#start(['--import', 'tsx', 'bench/floor/worker.ts'], { ...env, FLOOR_SERVICE });
    return { worker, client };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.stop()));
    await this.sandbox.stop();
    await this.connection.close();
    await this.server.stop();
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
    return { client, env: { TEMPORAL_ADDRESS: this.server.address, TEMPORAL_NAMESPACE: namespace } };
  }

  async #receiver(env: Record<string, string>): Promise<string> {
    const settings = { CALLBACK_PORT: '0', CALLBACK_TOKEN_KEY: TOKEN_KEY };
    return (await this.#start([join(DIST, 'receiver.js')], { ...env, ...settings })).ready.receiver ?? '';
  }

  async #start(args: string[], env: Record<string, string>): Promise<BenchProcess> {
    const started = await startNode(args, env);
    this.#processes.push(started);
    return started;
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
