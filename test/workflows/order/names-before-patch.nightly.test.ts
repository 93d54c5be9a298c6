import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { OrderInput, OrderResult } from '../../../src/contract/order/input-and-result.js';
import { createWorkers } from '../../../src/worker/start-worker.js';
import { type Run, resetTo, resettableEvents, runOf, terminate } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, openLab } from '../../support/lab.js';
import { olderWorkflowBundle } from '../../support/temporal.js';
import { executions, parkedFor } from '../compensation/parked-orders.fixture.js';

/* Orders whose names look like card numbers, taken by a version that did not refuse them. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
});
afterEach(() => lab.stopWorkers());
afterAll(() => lab?.close());

const startRaw = async (workflowId: string, input: OrderInput): Promise<Run> => {
  const options = { taskQueue: 'payment-orders', workflowId, args: [input] };
  await lab.temporal.client.workflow.start('withdraw', options);
  return runOf(lab, { workflowId });
};

/** Runs `act` while only workers of the older version are there. */
async function withOlderWorkers(act: () => Promise<void>): Promise<void> {
  const { nativeConnection: connection, namespace } = lab.temporal;
  const options = { workflowBundle: await olderWorkflowBundle(), debugMode: true };
  const workers = await createWorkers(lab.config, { connection, namespace }, options);
  const runs = workers.map((worker) => worker.run());
  await act().finally(() => {
    for (const worker of workers) worker.shutdown();
  });
  await Promise.all(runs);
}

const statusOf = async ({ workflowId }: Run) =>
  (await lab.temporal.client.workflow.getHandle(workflowId).describe()).status.name;

const resetToStart = async (run: Run): Promise<Run> => resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');

const resultOf = ({ workflowId, runId }: Run) =>
  lab.temporal.client.workflow.getHandle<() => Promise<OrderResult>>(workflowId, runId).result();

test('one that was paid and is reset to its start is found again, and never said to be unsent', async () => {
  const ID = '4012888888881881';
  const runs: Run[] = [];
  await withOlderWorkers(async () => {
    runs.push(await startRaw(`order:default:${ID}`, orderInput('withdraw', ID)));
    for (const run of runs) expect(await resultOf(run)).toMatchObject({ outcome: 'completed' });
  });
  await lab.startWorkers();
  for (const run of runs)
    expect(await resultOf(await resetToStart(run))).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, ID)).toBe(1);
});

test('one that is uncertain and is reset to its start stays open', async () => {
  const ID = '6011111111111117';
  const input = orderInput('withdraw', ID, { marker: 'create=500-before', resend: 'never' });
  const handle = lab.orders.order(ID);
  const runs: Run[] = [];
  await withOlderWorkers(async () => {
    runs.push(await startRaw(handle.workflowId, input));
    await parkedFor(handle);
  });
  await lab.startWorkers();
  for (const run of runs) {
    const cut = await resetToStart(run);
    await expect.poll(async () => (await handle.state()).phase, { timeout: 60_000 }).toBe('uncertain');
    await terminate(lab, cut);
  }
});

test('a start that names an earlier run, which may have sent it, is not refused as unsent, whatever is wrong with its names', async () => {
  await lab.startWorkers();
  const sentUntil = new Date().toISOString();
  const another = await startRaw('order:default:another', orderInput('withdraw', 'this-one', { sentUntil }));
  const error = await resultOf(another).catch(({ cause }) => cause);
  expect(error).toMatchObject({ type: 'OrderUnresolved' });
  expect(error.message).not.toMatch(/nothing was sent/i);
  const ID = '378282246310005';
  const again = await startRaw(`order:default:${ID}`, orderInput('withdraw', ID, { sentUntil }));
  // Numbers are witnessed by numbers that are as long.
  for (let n = 0; (await statusOf(again)) === 'RUNNING' && n < 60; n += 1) {
    const other = `${20_000_000_000_000_000_000n + BigInt(n)}`;
    await startRaw(`order:default:${other}`, orderInput('withdraw', other));
    await sleep(1_000);
  }
  expect(await resultOf(again)).toMatchObject({ outcome: 'completed' });
});
