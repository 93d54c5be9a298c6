import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { endProcesses } from '../worker/process.fixture.js';
import {
  type BatchLab,
  executedOf,
  openBatchLab,
  startRows,
  testRows,
  untilPhase,
} from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';

const ROWS = 300;
/** Fewer than there are rows: however slow the pause is, some of them still wait for their turn. */
const IN_FLIGHT = 150;
const BOB = { by: 'bob', reason: 'a call from the bank' };

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab({ workers: false });
});
afterAll(async () => {
  await endProcesses();
  await lab?.close();
});

/** How the chunks of a batch ended: names of events, `cancelRequested` for one that was interrupted. */
async function chunkEvents(workflowId: string): Promise<string[]> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    if (event.activityTaskCancelRequestedEventAttributes) return ['cancelRequested'];
    return event.activityTaskTimedOutEventAttributes ? ['timedOut'] : [];
  });
}

describe('a batch that is paused in the middle of sending and loses its worker before that could answer', () => {
  // A create in flight at the kill is given up after a minute only.
  test('sends nothing while it is paused, and after resume every row once', { timeout: 240_000 }, async () => {
    const { folder, sandbox, temporal } = lab;
    const worker = startBatchWorker(lab);
    const rows = testRows('cut', ROWS, () => 'after_ms=4000');
    const batch = await startRows(lab, rows, { maxInFlight: IN_FLIGHT });
    const query = `PaymentBatchId = '${batch.batchId}' AND WorkflowType = 'withdraw'`;
    const ordersOf = async () => (await temporal.client.workflow.count(query)).count;
    await worker.ready;
    while (executedOf(lab, rows) === 0) await sleep(5);
    await batch.pause(BOB);
    worker.kill('SIGKILL');
    await worker.exited;

    await lab.startWorkers({ directories: { batchDir: folder, reportDir: folder } });
    onTestFinished(() => lab.stopWorkers());
    await untilPhase(batch, 'paused');
    const [started, { progress }] = [await ordersOf(), await batch.state()];
    expect(await chunkEvents(batch.workflowId)).toEqual(['cancelRequested', 'timedOut']);
    expect(started).toBeLessThan(ROWS);
    // Rows that the lost chunk started after its last sign of life are not known of yet.
    expect(progress.taken).toBeLessThanOrEqual(started);
    process.stdout.write(`${started} orders were started, the batch knows of ${progress.taken}\n`);
    await sleep(10_000);
    expect(await ordersOf()).toBe(started);

    await batch.resume(BOB);
    expect((await batch.result()).outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
    expect(await ordersOf()).toBe(ROWS);
    expect(executedOf(lab, rows)).toBe(ROWS);
    expect(Math.max(...Object.values(sandbox.stats().executedByOrderId))).toBe(1);
  });
});
