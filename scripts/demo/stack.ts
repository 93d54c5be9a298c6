import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NAMES, sourcesOf } from '../../src/config/settings.js';
import { isGone } from '../temporal/cache.js';
import { freePort } from '../temporal/dev-server.js';
import { findTemporalCli } from '../temporal/find-cli.js';
import { prepareNamespace } from '../temporal/prepare-namespace.js';
import { resolveTemporal } from '../temporal/resolve.js';
import { type StackProcess, startProcess } from './processes.js';
import { step } from './step.js';

/** Everything running: Temporal with its Web UI, sandbox, worker, receiver and API, each a process of its own. */
export interface Stack {
  temporal: { address: string; namespace: string; embedded: boolean; uiUrl?: string };
  sandbox: { url: string; adminUrl: string };
  receiverUrl: string;
  /** Without keys: everybody on this machine may ask it. */
  apiUrl: string;
  /** Health and metrics of worker and receiver. */
  metricsUrls: readonly string[];
  /** BATCH_DIR of the worker. */
  batchDir: string;
  /** Rejects when any process ends by itself. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** Quick enough to watch; a real installation keeps the defaults (polls up to 5 min, settle window 10 min). */
const DEMO_PACE = {
  ORDER_POLL_INITIAL: '2s',
  ORDER_POLL_MAX: '4s',
  ORDER_SETTLE_WINDOW: '6s',
  ORDER_CONFIRM_DELAY: '3s',
  ALLOW_SHORT_WINDOWS: 'true',
};

/** Kept between runs, so that `npm run dev` shows the orders of an earlier demo under the very same links. */
const DATA_FOLDER = resolve('.demo');

const BATCH_DIR = join(DATA_FOLDER, 'batches');

const TEMPORAL_PORT = 7233;
const UI_PORT = 8233;
const SANDBOX_PORT = 4010;
const SANDBOX_ADMIN_PORT = 4011;
const WORKER_METRICS_PORT = 9464;
const RECEIVER_METRICS_PORT = 9465;
const API_PORT = 8088;

/** The wanted port where it is free, so that tools find the server by default; another one otherwise. */
const preferredPort = (wanted: number): Promise<number> => freePort(wanted).catch(() => freePort());

const field = (ready: string, name: string): string => new RegExp(`${name}=(\\S+)`).exec(ready)?.[1] ?? '';

/** Brings the stack up, saying what it does. On failure everything started so far is stopped. */
export async function startStack(pace: Record<string, string> = DEMO_PACE): Promise<Stack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  const running = async (part: Promise<StackProcess>) => {
    const process = await part;
    started.push(process);
    return process;
  };
  try {
    await mkdir(join(DATA_FOLDER, 'sandbox'), { recursive: true });
    await mkdir(BATCH_DIR, { recursive: true });
    started.push(await takeFolder());
    await writeFile(join(DATA_FOLDER, '.gitignore'), '*\n');
    // A worker takes payments from no folder that everybody may enter.
    await chmod(BATCH_DIR, 0o700);
    const temporal = await step('Temporal server', (log) => startTemporal(log));
    started.push(temporal);
    const base = inherited();
    const { PAYMENT_ORDER_CAPS: caps } = process.env;
    const { address, namespace, uiUrl, embedded } = temporal;
    const temporalEnv = {
      ...{ ...base, ...(!embedded && connectionEnv()) },
      ...{ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
    };
    const { receiverUrl, metrics, sandboxEnv, receiverEnv, workerEnv } = await settings();
    const sandbox = await step('Sandbox', () =>
      running(startProcess('sandbox', 'sandbox/main.ts', { ...base, ...sandboxEnv })),
    );
    const serviceUrl = field(sandbox.ready, 'service');
    const receiver = await step('Receiver', () =>
      running(startProcess('receiver', 'src/receiver.ts', { ...temporalEnv, ...receiverEnv })),
    );
    const worker = await step('Worker', () =>
      running(
        startProcess('worker', 'src/worker.ts', {
          ...temporalEnv,
          ...pace,
          ...workerEnv,
          // The one setting of the caller's that is looked at here: an order above it waits for a person.
          ...(caps && { PAYMENT_ORDER_CAPS: caps }),
          PAYMENT_BASE_URL: serviceUrl,
        }),
      ),
    );
    const apiEnv = { ...temporalEnv, API_ADDRESS: `127.0.0.1:${await preferredPort(API_PORT)}` };
    const api = await step('API', () => running(startProcess('api', 'src/api.ts', apiEnv)));
    const failed = Promise.race([sandbox.failed, receiver.failed, worker.failed, api.failed]);
    failed.catch(() => undefined);
    return {
      temporal: { address, namespace, embedded, ...(uiUrl && { uiUrl }) },
      sandbox: { url: serviceUrl, adminUrl: field(sandbox.ready, 'admin') },
      receiverUrl,
      apiUrl: field(api.ready, 'api'),
      metricsUrls: metrics.map((address) => `http://${address}/metrics`),
      batchDir: BATCH_DIR,
      failed,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Marks the folder as this process's. A second stack on it would work on the orders of the first with a service of its own: each of them
 * would know only a part of what was paid.
 */
async function takeFolder(): Promise<{ stop(): Promise<void> }> {
  const file = join(DATA_FOLDER, 'running.pid');
  const other = Number(await readFile(file, 'utf8').catch(() => ''));
  if (other && !isGone(other)) {
    throw new Error(
      `The demo or the development stack runs already in this folder (process ${other}): use that one, or end it first`,
    );
  }
  await writeFile(file, String(process.pid));
  return { stop: () => rm(file, { force: true }) };
}

/** What orders of a session depend on in the next one: their account, and where their callbacks go. */
interface Session {
  tokenKey: string;
  sandboxSecret: string;
  sandboxPort: number;
  receiverPort: number;
}

const newSecret = (): string => randomBytes(24).toString('base64url');

/** Returns the session of a folder, which its first start makes. A port that is taken is replaced for this start alone. */
async function sessionIn(folder: string): Promise<Session> {
  const file = join(folder, 'session.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) {
    const ports = { sandboxPort: await preferredPort(SANDBOX_PORT), receiverPort: await freePort() };
    const made: Session = { tokenKey: newSecret(), sandboxSecret: newSecret(), ...ports };
    await writeFile(file, JSON.stringify(made), { mode: 0o600 });
    return made;
  }
  try {
    const kept = JSON.parse(text) as Session;
    const [sandboxPort, receiverPort] = [await preferredPort(kept.sandboxPort), await preferredPort(kept.receiverPort)];
    return { ...kept, sandboxPort, receiverPort };
  } catch {
    throw new Error(`${file} cannot be read. Delete the folder to begin from nothing`);
  }
}

/** The environments of our processes, with the secrets of the folder. Where the sandbox listens shows once it does. */
export async function settings(folder = DATA_FOLDER) {
  const { tokenKey, sandboxSecret, ...ports } = await sessionIn(folder);
  const receiverPort = String(ports.receiverPort);
  const receiverUrl = `http://127.0.0.1:${receiverPort}`;
  const workerMetrics = `127.0.0.1:${await preferredPort(WORKER_METRICS_PORT)}`;
  const receiverMetrics = `127.0.0.1:${await preferredPort(RECEIVER_METRICS_PORT)}`;
  return {
    receiverUrl,
    metrics: [workerMetrics, receiverMetrics],
    sandboxEnv: {
      SANDBOX_PORT: String(ports.sandboxPort),
      SANDBOX_ADMIN_PORT: String(await preferredPort(SANDBOX_ADMIN_PORT)),
      SANDBOX_DATA_DIR: join(folder, 'sandbox'),
      SANDBOX_API_KEY: 'demo',
      SANDBOX_API_SECRET: sandboxSecret,
    },
    receiverEnv: { CALLBACK_PORT: receiverPort, CALLBACK_TOKEN_KEY: tokenKey, METRICS_ADDRESS: receiverMetrics },
    workerEnv: {
      PAYMENT_API_KEY: 'demo',
      PAYMENT_API_SECRET: sandboxSecret,
      PAYMENT_SIGNER: 'hmac-sha256',
      CALLBACK_BASE_URL: receiverUrl,
      CALLBACK_TOKEN_KEY: tokenKey,
      METRICS_ADDRESS: workerMetrics,
      BATCH_DIR,
    },
  };
}

async function startTemporal(log: (line: string) => void) {
  // Building the server may take minutes; only then are the ports chosen, or somebody else may take them meanwhile.
  if (!process.env.TEMPORAL_ADDRESS) await findTemporalCli(log);
  const [port, uiPort] = [await preferredPort(TEMPORAL_PORT), await preferredPort(UI_PORT)];
  const dbFile = join(DATA_FOLDER, 'temporal.db');
  const temporal = await resolveTemporal({ log, port, uiPort, dbFile });
  if (!temporal.embedded) await prepareNamespace(log);
  return temporal;
}

/** What processes of ours may know of the environment: none of the caller's own settings of this product. */
function inherited(): Record<string, string> {
  const foreign = /^(PAYMENT|CALLBACK|ORDER|SANDBOX|TEMPORAL|BATCH|REPORT|PAYLOAD|CODEC|API)_/;
  const kept = Object.entries(process.env).filter(([name, value]) => value !== undefined && !foreign.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

/** Returns the connection's variables, which our processes read as this one did: TLS, the API key, a file with a profile. */
function connectionEnv(): Record<string, string> {
  const ours = new Set(NAMES.flatMap(sourcesOf));
  const kept = Object.entries(process.env).filter(([name]) => name.startsWith('TEMPORAL_') && !ours.has(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
