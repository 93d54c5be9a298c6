import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startFront } from '../sandbox/front.js';
import { freePort } from '../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../src/client.js';
import { AccountBook } from './account-book.js';
import { buildProduct, ROOT } from './product.js';
import { ServiceAdmin, ServiceAdmins } from './service-admin.js';
import { Supervised } from './supervised.js';
import { MortalTemporal } from './temporal.js';

/** What no log, history or database may show. */
export interface Secrets {
  /** Of both accounts. */
  apiKeys: readonly string[];
  apiSecret: string;
  tokenKey: string;
}

/** Everything running, each a process of its own. */
export interface ChaosStack {
  temporal: MortalTemporal;
  /** One for each account at the service, all behind one host. */
  sandboxes: readonly Supervised[];
  receiver: Supervised;
  workers: readonly Supervised[];
  service: ServiceAdmins;
  accounts: AccountBook;
  receiverUrl: string;
  secrets: Secrets;
  client: Client;
  orders: PaymentOrders;
  /** Files that hold what the processes printed. */
  logFiles: readonly string[];
  dbFile: string;
  trafficFiles: readonly string[];
  stop(): Promise<void>;
}

/** Quick polls; the settle window is twice as long as any visibility lag. */
const PACE = {
  ORDER_POLL_INITIAL: '1s',
  ORDER_POLL_MAX: '4s',
  ORDER_SETTLE_WINDOW: '20s',
  ORDER_CONFIRM_DELAY: '1s',
  ALLOW_SHORT_WINDOWS: 'true',
};

/** The account of the orders, and the one whose key somebody puts in its place. */
const ACCOUNTS = ['right', 'other'] as const;

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
  const secrets: Secrets = { apiKeys: ACCOUNTS.map(secret), apiSecret: secret(), tokenKey: secret() };
  const services = await Promise.all(
    secrets.apiKeys.map(async (apiKey, index) => ({
      ...{ apiKey, name: `sandbox-${ACCOUNTS[index]}`, port: await freePort(), adminPort: await freePort() },
      dataDir: join(folder, 'sandbox', `${ACCOUNTS[index]}`),
    })),
  );
  const front = await startFront(
    services.map(({ apiKey, port }) => ({ path: '', apiKey, sandbox: { url: loopback(port), apiKey } })),
  );
  started.push({ stop: () => front.close() });
  const access = services.map(({ apiKey }) => ({ baseUrl: front.url, apiKey, apiSecret: secrets.apiSecret }));
  const accounts = new AccountBook(join(folder, 'accounts.json'), access);
  await accounts.setRight();
  const receiverPort = await freePort();
  const env = environments({ temporal, secrets, receiverPort, seed, accountsFile: accounts.file });
  const admins = services.map(({ adminPort }) => new ServiceAdmin(loopback(adminPort)));
  const sandboxes = services.map((of, index) =>
    run(of.name, ['--import', 'tsx', 'sandbox/main.ts'], env.sandbox(of), async () => admins[index]?.setAgain()),
  );
  const receiver = run('receiver', [join(dist, 'receiver.js')], env.receiver);
  const workers = ['worker-1', 'worker-2'].map((name) => run(name, [join(dist, 'worker.js')], env.worker));
  await Promise.all([...sandboxes, receiver, ...workers].map((process) => process.whenReady()));

  const connection = Connection.lazy({ address: temporal.address });
  started.push({ stop: () => connection.close() });
  const client = new Client({ connection, namespace: temporal.namespace });
  const printed = [...sandboxes, receiver, ...workers].map(({ program }) => program.logFile);
  return {
    ...{ temporal, sandboxes, receiver, workers, accounts, secrets, client, stop, dbFile },
    service: new ServiceAdmins(admins),
    receiverUrl: loopback(receiverPort),
    orders: new PaymentOrders(client),
    logFiles: [...printed, `${dbFile}.log`],
    trafficFiles: services.map(({ dataDir }) => join(dataDir, 'traffic.ndjson')),
  };
}

const loopback = (port: number): string => `http://127.0.0.1:${port}`;

/** What the programs are configured with. Ports and secrets stay the same over all their lives. */
interface Setting {
  temporal: MortalTemporal;
  secrets: Secrets;
  receiverPort: number;
  seed: string;
  accountsFile: string;
}

/** One account's sandbox. */
interface Service {
  apiKey: string;
  port: number;
  adminPort: number;
  dataDir: string;
}

/** The environment of each program: only workers know the key and the secret. */
function environments({ temporal, secrets, receiverPort, seed, accountsFile }: Setting) {
  const { apiSecret, tokenKey } = secrets;
  const temporalEnv = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
  return {
    sandbox: ({ apiKey, port, adminPort, dataDir }: Service) => ({
      SANDBOX_PORT: `${port}`,
      SANDBOX_ADMIN_PORT: `${adminPort}`,
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_SEED: seed,
      SANDBOX_API_KEY: apiKey,
      SANDBOX_API_SECRET: apiSecret,
    }),
    receiver: { ...temporalEnv, CALLBACK_PORT: `${receiverPort}`, CALLBACK_TOKEN_KEY: tokenKey },
    worker: {
      ...temporalEnv,
      ...pace(),
      PAYMENT_ACCOUNTS_FILE: accountsFile,
      CALLBACK_BASE_URL: loopback(receiverPort),
      CALLBACK_TOKEN_KEY: tokenKey,
    },
  };
}
