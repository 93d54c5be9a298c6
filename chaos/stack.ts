import { createSecretKey } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { startFront } from '../sandbox/front.js';
import { freePort } from '../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../src/client.js';
import type { EncryptionKey } from '../src/config.js';
import { dataConverter, encryptionCodec } from '../src/temporal.js';
import { AccountBook } from './account-book.js';
import {
  baseEnv,
  environments,
  foldersIn,
  loopback,
  newSecrets,
  type Secrets,
  type Service,
  servicesOf,
} from './environment.js';
import { Failover } from './failover.js';
import type { ChaosOptions } from './options.js';
import { buildProduct, ROOT } from './product.js';
import { ServiceAdmin, ServiceAdmins } from './service-admin.js';
import { Supervised } from './supervised.js';
import { MortalTemporal } from './temporal.js';

/** Everything running, each a process of its own. */
export interface ChaosStack {
  temporal: MortalTemporal;
  /** One for each account at the service, all behind one host. */
  sandboxes: readonly Supervised[];
  receiver: Supervised;
  workers: readonly Supervised[];
  service: ServiceAdmins;
  accounts: AccountBook;
  failover: Failover;
  receiverUrl: string;
  secrets: Secrets;
  /** Every signature that was sent to the service. */
  signatures: ReadonlySet<string>;
  /** Payloads are encrypted. */
  encrypted: boolean;
  codec: PayloadCodec;
  client: Client;
  orders: PaymentOrders;
  /** Holds all files of the run. */
  folder: string;
  dbFile: string;
  batchDir: string;
  auditDir: string;
  codecUrl: string;
  /** Lets the right account be asked with a further key, from now on. */
  admit(apiKey: string): void;
  /** The command line as it is run, and where what it prints is kept. */
  starter: { script: string; env: Record<string, string>; logFile: string };
  trafficFiles: readonly string[];
  stop(): Promise<void>;
}

/** What a stack is made with; `worker`: more of the environment of its workers, two if no number is given. */
export interface StackOptions extends Pick<ChaosOptions, 'seed' | 'plain' | 'postgres'> {
  worker?: Record<string, string>;
  workers?: number;
}

/** Brings everything up in a folder of its own, saying what it does. On failure all that was started is stopped. */
export async function startStack(
  folder: string,
  options: StackOptions,
  log: (line: string) => void,
): Promise<ChaosStack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    // In the order of their dependence; the workers first, so that nobody is left calling.
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    return await bringUp(folder, options, log, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

type Started = { stop(): Promise<void> }[];

async function bringUp(
  folder: string,
  { seed, plain, postgres, worker, workers = 2 }: StackOptions,
  log: (line: string) => void,
  started: Started,
  stop: () => Promise<void>,
): Promise<ChaosStack> {
  const folders = await foldersIn(folder);
  log('compiling the product');
  await buildProduct(folders.dist, [plain ? 'off' : 'required']);
  log(`starting Temporal, sandbox, receiver, codec and ${workers} workers`);
  const temporal = await (postgres
    ? MortalTemporal.startOnPostgres(folders.folder, log)
    : MortalTemporal.start(folders.dbFile, log));
  started.push(temporal);
  const secrets = newSecrets();
  const services = await servicesOf(secrets, folder);
  const { signatures, url, admit } = await openFront(services, started);
  const access = services.map(({ apiKey }) => ({ baseUrl: url, apiKey, apiSecret: secrets.apiSecret }));
  const accounts = new AccountBook(folders.accountsFile, access);
  await accounts.setRight();
  const failover = await Failover.before(temporal.address, accounts);
  started.push(failover);
  const ports = { receiverPort: await freePort(), codecPort: await freePort() };
  const encrypted = !plain;
  const workersWay = failover.address;
  const env = environments({ ...folders, ...ports, temporal, workersWay, secrets, seed, encrypted });
  const all = { ...env, worker: { ...env.worker, ...worker } };
  const programs = await startPrograms(services, all, { ...folders, workers }, started);
  return {
    ...{ temporal, accounts, failover, secrets, signatures, stop, encrypted, folder, admit },
    ...{ dbFile: folders.dbFile, batchDir: folders.batchDir, auditDir: folders.auditDir },
    ...programs,
    ...clientOf(temporal, encrypted ? [{ id: 'chaos', key: createSecretKey(secrets.payloadKey) }] : [], started),
    receiverUrl: loopback(ports.receiverPort),
    codecUrl: loopback(ports.codecPort),
    starter: {
      script: join(folders.dist, 'starter.js'),
      env: { ...baseEnv(), ...env.starter },
      logFile: join(folders.logs, 'starter.log'),
    },
    trafficFiles: services.map(({ dataDir }) => join(dataDir, 'traffic.ndjson')),
  };
}

/** One host before all accounts, which notes every signature that it is sent. */
async function openFront(services: readonly Service[], started: Started) {
  const signatures = new Set<string>();
  const routes = services.map(({ apiKey, port }) => ({ path: '', apiKey, sandbox: { url: loopback(port), apiKey } }));
  const front = await startFront(routes, ({ signature }) => typeof signature === 'string' && signatures.add(signature));
  started.push({ stop: () => front.close() });
  const admit = (apiKey: string) => {
    const [right] = routes;
    if (right) routes.push({ ...right, apiKey });
  };
  return { signatures, url: front.url, admit };
}

/** Starts every program and waits until all are ready. */
async function startPrograms(
  services: readonly (Service & { name: string })[],
  env: ReturnType<typeof environments>,
  { dist, logs, workers: count }: { dist: string; logs: string; workers: number },
  started: Started,
) {
  const run = (name: string, args: string[], own: Record<string, string>, onReady?: () => Promise<void>) => {
    const logFile = join(logs, `${name}.log`);
    const process = new Supervised({ name, args, cwd: ROOT, logFile, env: { ...baseEnv(), ...own }, onReady });
    started.push(process);
    return process;
  };
  const admins = services.map(({ adminPort }) => new ServiceAdmin(loopback(adminPort)));
  const sandboxes = services.map((of, index) =>
    run(of.name, ['--import', 'tsx', 'sandbox/main.ts'], env.sandbox(of), async () => admins[index]?.setAgain()),
  );
  const receiver = run('receiver', [join(dist, 'receiver.js')], env.receiver);
  const codecServer = run('codec', [join(dist, 'codec.js')], env.codec);
  const workers = Array.from({ length: count }, (_, n) =>
    run(`worker-${n + 1}`, [join(dist, 'worker.js')], env.worker),
  );
  await Promise.all([...sandboxes, receiver, codecServer, ...workers].map((process) => process.whenReady()));
  return { sandboxes, receiver, workers, service: new ServiceAdmins(admins) };
}

/** A backend's way to Temporal. */
function clientOf({ address, namespace }: MortalTemporal, keys: readonly EncryptionKey[], started: Started) {
  const connection = Connection.lazy({ address });
  started.push({ stop: () => connection.close() });
  const converter = dataConverter(keys.length > 0 ? { encryptionKeys: keys, encryptionRequired: true } : {});
  const client = new Client({ connection, namespace, dataConverter: converter });
  return { codec: encryptionCodec(keys), client, orders: new PaymentOrders(client) };
}
