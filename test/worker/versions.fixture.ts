import proto from '@temporalio/proto';
import { execa } from 'execa';
import { expect, vi } from 'vitest';
import { findTemporalCli } from '../../scripts/temporal/find-cli.js';
import { builtVersion, type Change } from '../support/built-version.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId } from '../support/lab.js';
import { type Env, type Process, startProcess, temporalEnv, workerEnv } from './process.fixture.js';

const ORDERS = 'workflows/orders.ts';
const CREATE = 'await createOrder(run);';

/** The next version: other code whose workflows do the same. */
const NEXT: readonly Change[] = [
  [ORDERS, 'import { createOrder }', "export const NEXT = 'next';\nimport { createOrder }"],
];

/** A version with one more step: no order that is open can continue in it. */
const INCOMPATIBLE: readonly Change[] = [
  [ORDERS, 'import { createOrder }', "import { sleep } from '@temporalio/workflow';\nimport { createOrder }"],
  [ORDERS, CREATE, `await sleep(1);\n      ${CREATE}`],
];

/** Programs of the present sources, of the next version, and of one that is not compatible. */
export const versions = {
  old: () => builtVersion('old', []),
  next: () => builtVersion('next', NEXT),
  incompatible: () => builtVersion('incompatible', INCOMPATIBLE),
};

/** Names of a deployment, for the commands of docs/upgrading.md. */
export const DEPLOYMENT = 'payment-orders';

/** The plain command line tool, as an operator types it; the command as one text. */
export async function temporal({ address, namespace }: Lab['temporal'], command: string): Promise<string> {
  const cli = await findTemporalCli(() => undefined);
  const { stdout } = await execa(cli, [...command.split(' '), '--address', address, '--namespace', namespace]);
  return stdout;
}

/** A worker process of a version, ready. `buildId`: told apart by Temporal; without one it takes whatever there is. */
export async function startVersion(lab: Lab, program: string, buildId?: string, env: Env = {}): Promise<Process> {
  const { temporal: target, sandbox, config } = lab;
  const worker = startProcess(program, {
    ...workerEnv(temporalEnv(target), sandbox.url, config.callback?.baseUrl),
    CALLBACK_TOKEN_KEY: config.callback?.tokenKeys[0] ?? '',
    ...(buildId && { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: buildId }),
    ...env,
  });
  await worker.ready;
  return worker;
}

/** Orders that exist at the service and end only when `lab.sandbox.finishAll()` says so. */
export async function openOrders(lab: Lab, label: string, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => newOrderId(`${label}-${index + 1}`));
  const open = async (id: string) => {
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=3600000' }));
    await handle.created({ timeoutMs: 120_000 });
  };
  await Promise.all(ids.map(open));
  return ids;
}

const UNHANDLED_COMMAND =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

/** What the histories of orders tell. */
export interface Told {
  completed: number;
  /** Without those that the server refused since a signal or a result came meanwhile: they are done anew, by any version. */
  failedTasks: number;
  /** Orders by the versions that answered for them, in order. */
  versions: Record<string, number>;
  markers: number;
}

/** Waits for the ends of orders and reads their histories. */
export async function endsOf({ orders, temporal: { client } }: Lab, ids: readonly string[]): Promise<Told> {
  const told: Told = { completed: 0, failedTasks: 0, versions: {}, markers: 0 };
  for (const id of ids) {
    const { outcome } = await orders.order(id).result({ timeoutMs: 120_000 });
    const { events = [] } = await client.workflow.getHandle(`order:default:${id}`).fetchHistory();
    const answered = (events ?? []).flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
    const builds = [...new Set(answered.map(({ deploymentVersion }) => deploymentVersion?.buildId || 'none'))];
    const name = builds.join('→');
    told.completed += outcome === 'completed' ? 1 : 0;
    const failed = (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
    told.failedTasks += failed.filter(({ cause }) => cause !== UNHANDLED_COMMAND).length;
    told.markers += (events ?? []).filter((event) => event.markerRecordedEventAttributes).length;
    told.versions[name] = (told.versions[name] ?? 0) + 1;
  }
  return told;
}

/** The share of its account's limit that a worker told last. */
const shareOfWorker = (worker: Process): number | undefined =>
  worker
    .stderr()
    .split('\n')
    .filter((line) => line.includes("share of the account's limit"))
    .map((line): number => JSON.parse(line).requestsPerSecond)
    .at(-1);

/** Waits until each worker has told that share, in requests per second. */
export const untilShares = (workers: readonly Process[], expected: number, timeout: number): Promise<void> =>
  vi.waitFor(
    () => {
      for (const worker of workers) expect(shareOfWorker(worker)).toBeCloseTo(expected, 2);
    },
    { timeout, interval: 250 },
  );
