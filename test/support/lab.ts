import type { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/index.js';
import { PaymentOrders } from '../../src/client.js';
import { Secret, type WorkerConfig } from '../../src/config.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/ids.js';
import type { Pace } from '../../src/contract/pace.js';
import { startReceiver } from '../../src/receiver/server.js';
import { createSignalOrder } from '../../src/receiver/signal-order.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { createTestNamespace, type TestNamespace, workflowBundle } from './temporal.js';

/** Fast enough for tests; the embedded server keeps timers well below a second. */
export const QUICK_PACE: Pace = {
  pollInitialMs: 300,
  pollMaxMs: 1_000,
  settleWindowMs: { atOnce: 1_000, deposit: 600 },
  confirmDelayMs: 100,
};

const TOKEN_KEY = 'a-token-key-for-tests-only';

/** A whole installation in one process: sandbox, worker, receiver and client on a namespace of its own. */
export interface Lab {
  sandbox: Sandbox;
  orders: PaymentOrders;
  temporal: TestNamespace;
  config: WorkerConfig;
  /** Number of events in the history of an order's workflow. */
  events(orderId: string): Promise<number>;
  /** Paths of the requests that the service got about an order, rates apart. */
  requestsOf(orderId: string): string[];
  /** Starts the workers of a lab that was opened without them. */
  startWorkers(): Promise<void>;
  close(): Promise<void>;
}

/** What a test may choose. */
export interface LabOptions {
  sandbox?: SandboxOptions;
  pace?: Partial<Pace>;
  /** False: no receiver, no callback URLs; orders are followed by polling alone. */
  callbacks?: boolean;
  /** False: orders wait until `startWorkers`. */
  workers?: boolean;
  /** Where the workers find the sandbox, such as a line in front of it that can be cut; its own URL when omitted. */
  serviceUrl?: (sandboxUrl: string) => Promise<string>;
  /** Caps and the balance check; none when omitted. */
  limits?: Pick<WorkerConfig, 'caps' | 'checkBalance'>;
}

/** Configuration of a worker for a sandbox. */
export function workerConfigFor(sandbox: Sandbox, pace: Partial<Pace> = {}, callbackBaseUrl?: string): WorkerConfig {
  return {
    accounts: new Map([
      [
        DEFAULT_ACCOUNT,
        {
          name: DEFAULT_ACCOUNT,
          baseUrl: sandbox.url,
          apiKey: new Secret(sandbox.apiKey),
          apiSecret: new Secret(sandbox.apiSecret),
          signer: 'hmac-sha256',
        },
      ],
    ]),
    pace: { ...QUICK_PACE, ...pace },
    ...(callbackBaseUrl && { callback: { baseUrl: callbackBaseUrl, tokenKeys: [TOKEN_KEY] } }),
  };
}

/** Brings a lab up on free ports. Close it in afterAll. */
export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const { sandbox: sandboxOptions, pace, callbacks = true, workers = true, serviceUrl, limits } = options;
  const temporal = await createTestNamespace();
  const sandbox = await startSandbox({ timeScale: 0.2, ...sandboxOptions });
  const receiver = callbacks
    ? await startReceiver({
        host: '127.0.0.1',
        port: 0,
        tokenKeys: [TOKEN_KEY],
        signal: createSignalOrder(temporal.client),
        log: pino({ level: 'silent' }),
      })
    : undefined;
  const url = (await serviceUrl?.(sandbox.url)) ?? sandbox.url;
  const config = { ...workerConfigFor({ ...sandbox, url }, pace, receiver?.url), ...limits };
  const running: { worker: Worker; run: Promise<void> }[] = [];
  const startWorkers = async (): Promise<void> => {
    const target = { connection: temporal.nativeConnection, namespace: temporal.namespace };
    const started = await createWorkers(config, target, { workflowBundle: workflowBundle() });
    running.push(...started.map((worker) => ({ worker, run: worker.run() })));
  };
  if (workers) await startWorkers();
  return {
    sandbox,
    orders: new PaymentOrders(temporal.client),
    temporal,
    config,
    events: async (orderId) => {
      const handle = temporal.client.workflow.getHandle(`order:${DEFAULT_ACCOUNT}:${orderId}`);
      return (await handle.fetchHistory()).events?.length ?? 0;
    },
    requestsOf: (orderId) => sandbox.requests().flatMap((entry) => (entry.orderId === orderId ? [entry.path] : [])),
    startWorkers,
    close: async () => {
      for (const { worker } of running) worker.shutdown();
      await Promise.all(running.map(({ run }) => run));
      await receiver?.close();
      await sandbox.close();
      await temporal.close();
    },
  };
}

let counter = 0;

/** A fresh order id, telling which test made it. */
export function newOrderId(label: string): string {
  counter += 1;
  return `${label}-${process.pid}-${counter}`;
}
