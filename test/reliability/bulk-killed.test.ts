import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { endProcesses } from '../worker/process.fixture.js';
import {
  executedOf,
  startRows,
  type TestRow,
  testRows,
  untilPhase,
  untilState,
  useBatchLab,
} from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';

const ROWS = 16;
const IN_FLIGHT = 8;
const MANY = 300;
/** Fewer than there are rows: however slow the pause is, some of them still wait for their turn. */
const MANY_IN_FLIGHT = 150;
const BOB = { by: 'bob', reason: 'a call from the bank' };

const lab = useBatchLab({ workers: false });
afterAll(endProcesses);

/** Resolves once the orders of the first rows exist: a create in flight would be given up only after a minute. */
async function untilCreated(rows: readonly TestRow[]): Promise<void> {
  await vi.waitFor(() => expect(executedOf(lab, rows)).toBe(IN_FLIGHT), { timeout: 60_000, interval: 50 });
  await Promise.all(rows.slice(0, IN_FLIGHT).map(({ id }) => lab.orders.order(id).created()));
}

// A create or a poll in flight at the kill is given up after a minute only.
vi.setConfig({ testTimeout: 240_000 });

describe('batches whose worker is killed while their rows are open', () => {
  test('are gone on with by the next worker; what is cancelled meanwhile sends nothing more', async () => {
    const { folder, sandbox, temporal } = lab;
    const worker = startBatchWorker(lab);
    const [kept, cancelled] = ['kept', 'gone'].map((label) => testRows(label, ROWS, () => 'after_ms=4000')) as [
      TestRow[],
      TestRow[],
    ];
    const keptBatch = await startRows(lab, kept, { maxInFlight: IN_FLIGHT });
    const cancelledBatch = await startRows(lab, cancelled, { maxInFlight: IN_FLIGHT });
    await worker.ready;
    await Promise.all([kept, cancelled].map(untilCreated));
    await Promise.all(
      [keptBatch, cancelledBatch].map((batch) => untilState(batch, ({ phase }) => phase === 'sending')),
    );
    worker.kill('SIGKILL');
    await worker.exited;
    await temporal.client.workflow.getHandle(cancelledBatch.workflowId).cancel();

    await lab.startWorkers({ directories: { batchDir: folder, reportDir: folder } });
    onTestFinished(() => lab.stopWorkers());
    const { started, outcomes } = await cancelledBatch.result();
    expect(outcomes).toMatchObject({ completed: started, notStarted: ROWS - started });
    expect(executedOf(lab, cancelled)).toBe(started);
    expect(started).toBeGreaterThanOrEqual(IN_FLIGHT);
    expect((await keptBatch.result()).outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
    expect(executedOf(lab, kept)).toBe(ROWS);
    const { executedByOrderId } = sandbox.stats();
    expect(Math.max(...Object.values(executedByOrderId))).toBe(1);
  });
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
  test('sends nothing while it is paused, and after resume every row once', async () => {
    const { folder, sandbox, temporal } = lab;
    const worker = startBatchWorker(lab);
    const rows = testRows('cut', MANY, () => 'after_ms=4000');
    const batch = await startRows(lab, rows, { maxInFlight: MANY_IN_FLIGHT });
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
    expect(started).toBeLessThan(MANY);
    // Rows that the lost chunk started after its last sign of life are not known of yet.
    expect(progress.taken).toBeLessThanOrEqual(started);
    process.stdout.write(`${started} orders were started, the batch knows of ${progress.taken}\n`);
    await sleep(10_000);
    expect(await ordersOf()).toBe(started);

    await batch.resume(BOB);
    expect((await batch.result()).outcomes).toMatchObject({ completed: MANY, notStarted: 0 });
    expect(await ordersOf()).toBe(MANY);
    expect(executedOf(lab, rows)).toBe(MANY);
    expect(Math.max(...Object.values(sandbox.stats().executedByOrderId))).toBe(1);
  });
});
