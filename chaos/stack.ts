import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../src/client.js';
import { buildProduct, ROOT } from './product.js';
import { ServiceAdmin } from './service-admin.js';
import { Supervised } from './supervised.js';
import { MortalTemporal } from './temporal.js';

/** What no log, history or database may show. */
export interface Secrets {
  apiKey: string;
  apiSecret: string;
  tokenKey: string;
}

/** Everything running, each a process of its own. */
export interface ChaosStack {
  temporal: MortalTemporal;
  sandbox: Supervised;
  receiver: Supervised;
  workers: readonly Supervised[];
  service: ServiceAdmin;
  receiverUrl: string;
  secrets: Secrets;
  client: Client;
  orders: PaymentOrders;
  /** Files that hold what the processes printed. */
  logFiles: readonly string[];
  dbFile: string;
  trafficFile: string;
  stop(): Promise<void>;
}

/** Quick polls; the settle window is twice as long as any visibility lag. */
const PACE = {
  ORDER_POLL_INITIAL: '1s',
  ORDER_POLL_MAX: '4s',
  ORDER_SETTLE_WINDOW: '20s',
  ORDER_CONFIRM_DELAY: '1s',
};

const secret = (): string => randomBytes(24).toString('base64url');

/** Only what a program needs to run; nothing of the caller's own settings, the pace apart. */
const baseEnv = (): Record<string, string> => ({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' });

const pace = (): Record<string, string> =>
  Object.fromEntries(Object.entries(PACE).map(([name, value]) => [name, process.env[name] ?? value]));

/** Brings everything up in a folder of its own, saying what it does. On failure all that was started is stopped. */
export async function startStack(folder: string, seed: string, log: (line: string) => void): Promise<ChaosStack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    // In the order of their dependence; the workers first, so that nobody is left calling.
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    return await bringUp(folder, seed, log, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bringUp(
  folder: string,
  seed: string,
  log: (line: string) => void,
  started: { stop(): Promise<void> }[],
  stop: () => Promise<void>,
): Promise<ChaosStack> {
  const [dist, logs, dbFile] = [join(folder, 'dist'), join(folder, 'logs'), join(folder, 'temporal.db')];
  await mkdir(logs, { recursive: true });
  log('compiling the product');
  await buildProduct(dist);
  log('starting Temporal, sandbox, receiver and two workers');
  const temporal = await MortalTemporal.start(dbFile, log);
  started.push(temporal);

  const run = (name: string, args: string[], env: Record<string, string>, onReady?: () => Promise<void>) => {
    const logFile = join(logs, `${name}.log`);
    const process = new Supervised({ name, args, cwd: ROOT, logFile, env: { ...baseEnv(), ...env }, onReady });
    started.push(process);
    return process;
  };
  const secrets: Secrets = { apiKey: secret(), apiSecret: secret(), tokenKey: secret() };
  const ports = { service: await freePort(), admin: await freePort(), receiver: await freePort() };
  const service = new ServiceAdmin(loopback(ports.admin));
  const env = environments({ temporal, secrets, ports, seed, dataDir: join(folder, 'sandbox') });
  const sandbox = run('sandbox', ['--import', 'tsx', 'sandbox/main.ts'], env.sandbox, () => service.setAgain());
  const receiver = run('receiver', [join(dist, 'receiver.js')], env.receiver);
  const workers = ['worker-1', 'worker-2'].map((name) => run(name, [join(dist, 'worker.js')], env.worker));
  await Promise.all([sandbox, receiver, ...workers].map((process) => process.whenReady()));

  const connection = Connection.lazy({ address: temporal.address });
  started.push({ stop: () => connection.close() });
  const client = new Client({ connection, namespace: temporal.namespace });
  const printed = [sandbox, receiver, ...workers].map(({ program }) => program.logFile);
  return {
    ...{ temporal, sandbox, receiver, workers, service, secrets, client, stop, dbFile },
    receiverUrl: loopback(ports.receiver),
    orders: new PaymentOrders(client),
    logFiles: [...printed, `${dbFile}.log`],
    trafficFile: join(folder, 'sandbox', 'traffic.ndjson'),
  };
}

const loopback = (port: number): string => `http://127.0.0.1:${port}`;

/** What the programs are configured with. Ports and secrets stay the same over all their lives. */
interface Setting {
  temporal: MortalTemporal;
  secrets: Secrets;
  ports: { service: number; admin: number; receiver: number };
  seed: string;
  dataDir: string;
}

/** The environment of each program: only workers know the key and the secret. */
function environments({ temporal, secrets, ports, seed, dataDir }: Setting) {
  const { apiKey, apiSecret, tokenKey } = secrets;
  const temporalEnv = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
  return {
    sandbox: {
      SANDBOX_PORT: `${ports.service}`,
      SANDBOX_ADMIN_PORT: `${ports.admin}`,
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_SEED: seed,
      SANDBOX_API_KEY: apiKey,
      SANDBOX_API_SECRET: apiSecret,
    },
    receiver: { ...temporalEnv, CALLBACK_PORT: `${ports.receiver}`, CALLBACK_TOKEN_KEY: tokenKey },
    worker: {
      ...temporalEnv,
      ...pace(),
      PAYMENT_BASE_URL: loopback(ports.service),
      PAYMENT_API_KEY: apiKey,
      PAYMENT_API_SECRET: apiSecret,
      PAYMENT_SIGNER: 'hmac-sha256',
      CALLBACK_BASE_URL: loopback(ports.receiver),
      CALLBACK_TOKEN_KEY: tokenKey,
    },
  };
}
