import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { encryptionMode } from '../../src/bundle/bundle.js';
import { PaymentOrders } from '../../src/client.js';
import { loadEncryption, loadWorkerConfig } from '../../src/config.js';
import { startReceiver } from '../../src/receiver/server.js';
import { createSignalOrder, createSignalReceived } from '../../src/receiver/signals.js';
import { dataConverter } from '../../src/temporal.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { startDevServer } from '../temporal/dev-server.js';
import { buildWorkflowBundle } from '../workflow-bundle.js';

/** What scenarios work with. */
export interface Installation {
  orders: PaymentOrders;
  client: Client;
  sandbox: Sandbox;
  /** Process id of the Temporal server. */
  serverPid: number;
  close(): Promise<void>;
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
): Promise<Installation> {
  if (!installed) Runtime.install({ logger: new DefaultLogger('ERROR') });
  installed = true;
  const server = await startDevServer({ log });
  const { address, namespace } = server;
  const connection = await Connection.connect({ address });
  const nativeConnection = await NativeConnection.connect({ address });
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
  const config = loadWorkerConfig({
    PAYMENT_BASE_URL: sandbox.url,
    PAYMENT_API_KEY: sandbox.apiKey,
    PAYMENT_API_SECRET: sandbox.apiSecret,
    PAYMENT_SIGNER: 'hmac-sha256',
    // For the scenario in which the service makes a create wait.
    PAYMENT_NOT_EXECUTED_STATUSES: '429',
    CALLBACK_BASE_URL: receiver.url,
    CALLBACK_TOKEN_KEY: TOKEN_KEY,
    // Long enough for the timer before the first poll.
    ORDER_POLL_INITIAL: '1s',
    ORDER_POLL_MAX: '2s',
    ORDER_SETTLE_WINDOW: '1s',
    ORDER_CONFIRM_DELAY: '100ms',
    ALLOW_SHORT_WINDOWS: 'true',
    ...env,
  });
  const workflowBundle = await buildWorkflowBundle(encryptionMode(config));
  const workers = await createWorkers(config, { connection: nativeConnection, namespace }, { workflowBundle });
  const running = workers.map((worker) => worker.run());
  return {
    orders: new PaymentOrders(client),
    client,
    sandbox,
    serverPid: server.pid,
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await receiver.close();
      await sandbox.close();
      await nativeConnection.close();
      await connection.close();
      await server.stop();
    },
  };
}
