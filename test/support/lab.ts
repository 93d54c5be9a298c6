import type { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/index.js';
import { encryptionMode } from '../../src/bundle/bundle.js';
import { PaymentOrders } from '../../src/client.js';
import {
  type AccountConfig,
  type EncryptionKey,
  type ReceiverConfig,
  Secret,
  type WorkerConfig,
} from '../../src/config.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import type { Pace } from '../../src/contract/order/activities.js';
import { startReceiver } from '../../src/receiver/server.js';
import { createSignalOrder, createSignalReceived } from '../../src/receiver/signals.js';
import { dataConverter } from '../../src/temporal.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { type GateRule, openGate, type ServiceGate } from './service-gate.js';
import { settings } from './simulated.js';
import {
  createTestNamespace,
  encryptedWorkflowBundle,
  impatientWorkflowBundle,
  type TestNamespace,
  workflowBundle,
} from './temporal.js';
import { keepBusy, openUngrouped } from './ungrouped.js';

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
  /** Starts the workers of a lab that has none; `change` replaces parts of its configuration. */
  startWorkers(change?: Partial<WorkerConfig>): Promise<void>;
  /** Ends all workers once their tasks are done. */
  stopWorkers(): Promise<void>;
  /** Ends all workers, then starts others. */
  replaceWorkers(change?: Partial<WorkerConfig>): Promise<void>;
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
  /** Caps and whose signatures count; none when omitted. */
  limits?: Pick<WorkerConfig, 'caps' | 'approvers' | 'auditDir' | 'policies'>;
  /** Fields of the account besides its keys, such as a canary. */
  account?: Partial<AccountConfig>;
  /** Receivers of events; none when omitted. */
  receivers?: readonly ReceiverConfig[];
  /** Client, receiver and workers encrypt payloads with the first of them; plain when omitted. */
  encryptionKeys?: readonly EncryptionKey[];
  /** They refuse what is plain or written for another workflow. */
  encryptionRequired?: boolean;
  /** Time after which workflows call for a person, instead of a quarter of an hour. */
  attentionAfterMs?: number;
  /**
   * True: workflows run in a thread of their own and fail when one blocks it for 5 s, as in production. Starting the thread takes ten times as
   * long as starting the worker, so only tests of large batches and those of worker processes have it.
   */
  workflowThread?: boolean;
  /** True: look-ups of many orders are one request, as in production. Otherwise each order asks as it does alone. */
  groups?: boolean;
  /** True: nobody else creates orders at the account, so that no order shows how new an answer is. */
  quiet?: boolean;
  /** Clock of the workers; that of the machine when omitted. */
  nowMs?: () => number;
  /** A Temporal server of the test's own; that of the run when omitted. */
  temporalAddress?: string;
}

/** Configuration of a worker for a sandbox. */
export function workerConfigFor(
  sandbox: Sandbox,
  pace: Partial<Pace> = {},
  callbackBaseUrl?: string,
  account: Partial<AccountConfig> = {},
): WorkerConfig {
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
          ...account,
        },
      ],
    ]),
    pace: { ...QUICK_PACE, ...pace },
    ...(callbackBaseUrl && { callback: { baseUrl: callbackBaseUrl, tokenKeys: [TOKEN_KEY] } }),
  };
}

/** Paths of the requests about an order that a sandbox got. */
export const requestsTo =
  (sandbox: Pick<Sandbox, 'requests'>): Lab['requestsOf'] =>
  (orderId) =>
    sandbox
      .requests()
      .filter((entry) => entry.orderId === orderId || entry.orderIds?.includes(orderId))
      .map(({ path }) => path);

/** Brings a lab up on free ports. Close it in afterAll. */
export async function openLab(options: LabOptions = {}): Promise<Lab> {
  if (settings.isSimulated) return (await import('./simulated-lab.js')).openSimulatedLab(options);
  const { sandbox: sandboxOptions, pace, callbacks = true, workers = true, serviceUrl, limits } = options;
  const {
    encryptionKeys,
    encryptionRequired,
    attentionAfterMs,
    temporalAddress: address,
    workflowThread = false,
    groups = false,
    quiet = false,
    nowMs = Date.now,
  } = options;
  const temporal = await createTestNamespace({
    address,
    dataConverter: dataConverter({ encryptionKeys, encryptionRequired }),
  });
  const sandbox = await startSandbox({ timeScale: 0.2, ...sandboxOptions });
  const receiver = callbacks
    ? await startReceiver({
        host: '127.0.0.1',
        port: 0,
        tokenKeys: [TOKEN_KEY],
        signal: createSignalOrder(temporal.client),
        received: createSignalReceived(temporal.client),
        log: pino({ level: 'silent' }),
      })
    : undefined;
  const url = (await serviceUrl?.(sandbox.url)) ?? sandbox.url;
  const config = {
    ...workerConfigFor({ ...sandbox, url }, pace, receiver?.url, options.account),
    ...limits,
    ...(options.receivers && { receivers: new Map(options.receivers.map((one) => [one.name, one])) }),
    encryptionKeys,
    encryptionRequired,
  };
  const running: { worker: Worker; run: Promise<void> }[] = [];
  const startWorkers = async (change: Partial<WorkerConfig> = {}): Promise<void> => {
    const target = { connection: temporal.nativeConnection, namespace: temporal.namespace, identity: 'lab' };
    const changed = { ...config, ...change };
    const plain = attentionAfterMs ? await impatientWorkflowBundle(attentionAfterMs) : workflowBundle();
    const mode = encryptionMode(changed);
    const code = mode === 'off' ? plain : await encryptedWorkflowBundle(mode);
    const accounts = groups
      ? await openAccounts(changed.accounts)
      : await openUngrouped(changed.accounts, { quiet, nowMs });
    if (groups && !quiet) for (const account of accounts.values()) keepBusy(account, nowMs);
    const started = await createWorkers(
      changed,
      target,
      { workflowBundle: code, debugMode: !workflowThread },
      accounts,
      nowMs,
    );
    running.push(...started.map((worker) => ({ worker, run: worker.run() })));
  };
  const stopWorkers = async (): Promise<void> => {
    const stopping = running.splice(0);
    for (const { worker } of stopping) worker.shutdown();
    await Promise.all(stopping.map(({ run }) => run));
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
    requestsOf: requestsTo(sandbox),
    startWorkers,
    stopWorkers,
    replaceWorkers: async (change) => {
      await stopWorkers();
      await startWorkers(change);
    },
    close: async () => {
      await stopWorkers();
      await receiver?.close();
      await sandbox.close();
      await temporal.close();
    },
  };
}

/** Sets a lab up for a test file, or for a `describe`. */
export function useLab(options?: LabOptions): Lab {
  const lab = {} as Lab;
  beforeAll(async () => void Object.assign(lab, await openLab(options)));
  afterAll(() => lab.close?.());
  return lab;
}

/** The same behind a gate, which asks `rule` about every request. */
export function useGatedLab<L extends Lab = Lab>(
  rule?: GateRule,
  options?: Omit<LabOptions, 'serviceUrl'>,
  open: (options: LabOptions) => Promise<L | Lab> = openLab,
): L & { gate: ServiceGate } {
  const lab = {} as L & { gate: ServiceGate };
  const serviceUrl = async (url: string) => {
    lab.gate = await openGate(url, rule);
    return lab.gate.url;
  };
  beforeAll(async () => void Object.assign(lab, await open({ ...options, serviceUrl })));
  afterAll(async () => {
    await lab.close?.();
    await lab.gate?.shut();
  });
  return lab;
}

/** Configuration of workers whose account is changed, for example named otherwise, so that nobody serves the lab's own. */
export function accountWith({ config }: Lab, change: Partial<Account>): { accounts: ReadonlyMap<string, Account> } {
  const changed = [...config.accounts.values()].map((own): Account => ({ ...own, ...change }));
  return { accounts: new Map(changed.map((account) => [account.name, account])) };
}

type Account = WorkerConfig['accounts'] extends ReadonlyMap<string, infer A> ? A : never;

let counter = 0;

/** A fresh order id, telling which test made it; as long as all others of this label. */
export function newOrderId(label: string): string {
  counter += 1;
  return `${label}-${process.pid}-${String(counter).padStart(4, '0')}`;
}
