import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endProcesses } from '../worker/process.fixture.js';
import {
  type BatchLab,
  executedOf,
  openBatchLab,
  startRows,
  type TestRow,
  testRows,
  untilState,
} from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';

const ROWS = 16;
const IN_FLIGHT = 8;

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab({ workers: false });
});
afterAll(async () => {
  await endProcesses();
  await lab?.close();
});

/** Resolves once the orders of the first rows exist: a create in flight would be given up only after a minute. */
async function untilCreated(rows: readonly TestRow[]): Promise<void> {
  await vi.waitFor(() => expect(executedOf(lab, rows)).toBe(IN_FLIGHT), { timeout: 20_000, interval: 50 });
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
