import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { encryptionMode } from '../../src/bundle/bundle.js';
import { PaymentOrders } from '../../src/client.js';
import { type AccountConfig, loadEncryption, loadWorkerConfig, type WorkerConfig } from '../../src/config.js';
import { startReceiver } from '../../src/receiver/server.js';
import { createSignalOrder, createSignalReceived } from '../../src/receiver/signals.js';
import { dataConverter } from '../../src/temporal.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { startDevServer } from '../temporal/dev-server.js';
import { buildWorkflowBundle } from '../workflow-bundle.js';
import { impatientBundle } from './impatient-bundle.js';

/** What scenarios work with. */
export interface Installation {
  orders: PaymentOrders;
  client: Client;
  sandbox: Sandbox;
  /** Process id of the Temporal server. */
  serverPid: number;
  /** Base URL of the Web UI, when asked for. */
  uiUrl?: string;
  /** Starts workers that serve these accounts, beside those that run. Returns what stops them. */
  serve(accounts: readonly AccountConfig[]): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What an installation may have besides. */
export interface InstallationOptions {
  /** True: the server has its Web UI, on a free port. */
  ui?: true;
  /** Time after which workflows call for a person, instead of a quarter of an hour. */
  attentionAfterMs?: number;
  /** Settings of its account that the environment has not. */
  account?: Partial<AccountConfig>;
}

const TOKEN_KEY = 'token-key-of-recorded-histories';

/** The SDK's runtime is one for the process. */
let installed = false;

/**
 * Starts Temporal, sandbox, receiver and worker for one recording, in this process and on free ports. `env`: more settings
 * of the worker.
 */
export async function openInstallation(
  log: (line: string) => void,
  env: Record<string, string> = {},
  { ui, attentionAfterMs, account = {} }: InstallationOptions = {},
): Promise<Installation> {
  if (!installed) Runtime.install({ logger: new DefaultLogger('ERROR') });
  installed = true;
  const server = await startDevServer({ log, uiPort: ui });
  const { address, namespace } = server;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace, dataConverter: dataConverter(loadEncryption(env)) });
  const sandbox = await startSandbox({ timeScale: 0.2 });
  const signal = createSignalOrder(client);
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    tokenKeys: [TOKEN_KEY],
    signal,
    received: createSignalReceived(client),
    log: pino({ level: 'silent' }),
  });
  const configured = configFor(sandbox, receiver.url, env);
  const accounts = [...configured.accounts].map(([name, one]) => [name, { ...one, ...account }] as const);
  const config = { ...configured, accounts: new Map(accounts) };
  const { code } = await buildWorkflowBundle(encryptionMode(config));
  const workflowBundle = { code: attentionAfterMs === undefined ? code : impatientBundle(code, attentionAfterMs) };
  const connections: NativeConnection[] = [];
  const stops: (() => Promise<void>)[] = [];
  const work = async (changed: WorkerConfig): Promise<() => Promise<void>> => {
    // Workers of one connection may not poll the same queues twice.
    const nativeConnection = await NativeConnection.connect({ address });
    connections.push(nativeConnection);
    const started = await createWorkers(changed, { connection: nativeConnection, namespace }, { workflowBundle });
    const running = started.map((worker) => worker.run());
    const stop = async (): Promise<void> => {
      for (const worker of started) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
    };
    stops.push(stop);
    return stop;
  };
  await work(config);
  return {
    orders: new PaymentOrders(client),
    client,
    sandbox,
    serverPid: server.pid,
    uiUrl: server.uiUrl,
    serve: (accounts) => work({ ...config, accounts: new Map(accounts.map((account) => [account.name, account])) }),
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await receiver.close();
      await sandbox.close();
      for (const one of connections) await one.close();
      await connection.close();
      await server.stop();
    },
  };
}

function configFor(sandbox: Sandbox, callbackBaseUrl: string, env: Record<string, string>): WorkerConfig {
  return loadWorkerConfig({
    PAYMENT_BASE_URL: sandbox.url,
    PAYMENT_API_KEY: sandbox.apiKey,
    PAYMENT_API_SECRET: sandbox.apiSecret,
    PAYMENT_SIGNER: 'hmac-sha256',
    // For the scenario in which the service makes a create wait.
    PAYMENT_NOT_EXECUTED_STATUSES: '429',
    CALLBACK_BASE_URL: callbackBaseUrl,
    CALLBACK_TOKEN_KEY: TOKEN_KEY,
    // Long enough for the timer before the first poll.
    ORDER_POLL_INITIAL: '1s',
    ORDER_POLL_MAX: '2s',
    ORDER_SETTLE_WINDOW: '1s',
    ORDER_CONFIRM_DELAY: '100ms',
    ALLOW_SHORT_WINDOWS: 'true',
    ...env,
  });
}
