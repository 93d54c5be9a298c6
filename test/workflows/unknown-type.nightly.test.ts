import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import { type Lab, openLab } from '../support/lab.js';

let lab: Lab;
let code: string;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('./later-types.fixture.ts', import.meta.url));
  [lab, { code }] = await Promise.all([
    openLab({ callbacks: false }),
    bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }),
  ]);
});
afterAll(() => lab?.close());

const start = (workflowType: string, workflowId: string) =>
  lab.temporal.client.workflow.start(workflowType, { taskQueue: ORDERS_TASK_QUEUE, workflowId });

/** Messages of the workflow tasks that failed. */
async function failures(workflowId: string): Promise<string[]> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? []);
}

/** A worker of the version that is being rolled out, on the same queue. */
async function startNewWorker() {
  const { address, namespace } = lab.temporal;
  // The SDK allows one worker of a queue on each connection.
  const connection = await NativeConnection.connect({ address });
  const options = { connection, namespace, taskQueue: ORDERS_TASK_QUEUE, workflowBundle: { code }, debugMode: true };
  const worker = await Worker.create(options);
  const run = worker.run();
  return async () => {
    worker.shutdown();
    await run;
    await connection.close();
  };
}

test.for(['refund', 'withdraw2'])('a type of a later version, %s, waits for a worker that knows it', async (type) => {
  const handle = await start(type, `later:${type}`);
  await vi.waitFor(async () => expect(await failures(handle.workflowId)).toHaveLength(1), { timeout: 30_000 });
  expect(await failures(handle.workflowId)).toEqual([
    expect.stringMatching(new RegExp(`^workflow type ${type} is not known to this worker.*Nothing was sent$`)),
  ]);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  const stop = await startNewWorker();
  expect(await handle.result()).toBe('paid back');
  await stop();
});

test('while workers of both versions take tasks, every workflow of the new type comes to its end', async () => {
  const stop = await startNewWorker();
  const ids = Array.from({ length: 6 }, (_, index) => `both:${index + 1}`);
  const handles = await Promise.all(ids.map((id) => start('refund', id)));
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(ids.map(() => 'paid back'));
  await stop();
});
