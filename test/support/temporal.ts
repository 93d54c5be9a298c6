import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  type WorkflowBundlePath,
} from '@temporalio/worker';
import { register } from 'tsx/cjs/api';
import { afterAll, beforeAll, inject } from 'vitest';
import { impatientBundle } from '../../scripts/replay/impatient-bundle.js';
import { registerSearchAttributes } from '../../scripts/temporal/search-attributes.js';
import { bundleWorkflows } from '../../src/bundle/bundle.js';
import { bundleOnce } from './bundle-once.js';

const USABLE_LIMIT_MS = 30_000;

/** A namespace of a test file's own: task queues have fixed names, so files in one namespace would take each other's work. */
export type TestNamespace = {
  address: string;
  namespace: string;
  client: Client;
  /** For the workers under test. */
  nativeConnection: NativeConnection;
  /** Closes the workers' connection; end the workers first. The namespace goes with the server. */
  close(): Promise<void>;
};

/** A server of a test's own, and how its client writes payloads; the run's server and plain payloads when omitted. */
export type NamespaceOptions = { address?: string; dataConverter?: DataConverter };

/** Registers a fresh namespace with the project's search attributes on the run's server, ready to use. */
export async function createTestNamespace({ address, dataConverter }: NamespaceOptions = {}): Promise<TestNamespace> {
  quietWorkers();
  const options = address === undefined ? connectionOptions() : { address };
  const connection = await Connection.connect(options);
  const namespace = `test-${randomUUID()}`;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  await retryUntilUsable(() => registerSearchAttributes(connection, namespace));
  const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
  await retryUntilUsable(() => client.workflow.count('PaymentNeedsAttention = true'));
  const nativeConnection = await NativeConnection.connect(options);
  // The client's connection stays: the SDK repeats calls that a test left under way, and on a closed one it throws where nobody can catch it.
  const close = (): Promise<void> => nativeConnection.close();
  return { address: options.address, namespace, client, nativeConnection, close };
}

/** Sets a namespace up for a test file. It closes after every `afterAll` that is defined later. */
export function useNamespace(): TestNamespace {
  const temporal = {} as TestNamespace;
  beforeAll(async () => void Object.assign(temporal, await createTestNamespace()));
  afterAll(() => temporal.close?.());
  return temporal;
}

/** Keeps the workers' expected warnings (failed orders, thousands of repeated activities) out of the test output. Call it before anything else starts the SDK's runtime. */
export function quietWorkers(): void {
  if (quieted) return;
  const filter = makeTelemetryFilterString({ core: 'ERROR' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
  quieted = true;
}

let quieted = false;

/** The workflows, bundled once for the whole run: pass it to `Worker.create` as `workflowBundle`. */
export function workflowBundle(): WorkflowBundlePath {
  const codePath = inject('workflowBundlePath');
  if (codePath === undefined) throw new Error('The workflows cannot be bundled: see the beginning of the output');
  return { codePath };
}

/** The workflows as they are, but that a person is told sooner. */
export async function impatientWorkflowBundle(attentionAfterMs: number): Promise<{ code: string }> {
  return { code: impatientBundle(await readFile(workflowBundle().codePath, 'utf8'), attentionAfterMs) };
}

/** The workflows for workers that encrypt payloads; bundled by the first test file that asks. */
export function encryptedWorkflowBundle(mode: 'on' | 'required' = 'on'): Promise<WorkflowBundlePath> {
  // Workers load their converters with `require`, which knows TypeScript only through tsx.
  if (!registered) register();
  registered = true;
  const name = mode === 'on' ? 'encrypted' : mode;
  return bundleOnce(name, () => bundleWorkflows({ mode, logger: new DefaultLogger('ERROR') }));
}

let registered = false;

function connectionOptions() {
  const address = inject('embeddedTemporal');
  if (address !== undefined) return { address };
  const options = loadClientConnectConfig().connectionOptions;
  return { ...options, address: options.address ?? 'localhost:7233' };
}

/** Until the server's caches know a new namespace it answers NOT_FOUND. */
export async function retryUntilUsable(attempt: () => Promise<unknown>): Promise<void> {
  const deadlineMs = Date.now() + USABLE_LIMIT_MS;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await sleep(50);
    }
  }
}
