import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { executedOf, startRows, type TestRow, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { startKillableWorkers } from './killable-workers.fixture.js';

const BATCHES = 4;
const ROWS = 500;
const REQUESTS_PER_SECOND = 40;
const SAMPLES = 5;
const LIMIT_MS = 2_000;

const lab = useBatchLab({ workers: false });
beforeAll(async () => {
  await startKillableWorkers(lab, 2, { PAYMENT_REQUESTS_PER_SECOND: `${REQUESTS_PER_SECOND}` });
});
afterAll(endProcesses);

/** How many orders of rows Temporal has, whatever became of them. */
const startedRows = async (): Promise<number> =>
  (await lab.temporal.client.workflow.count("WorkflowType = 'withdraw' AND PaymentBatchId IS NOT NULL")).count;

/** Milliseconds from the start of a single order to the start of its create, by the server's clock. */
async function startDelayMs(): Promise<number> {
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('single')));
  await handle.created();
  const { events } = await lab.temporal.client.workflow.getHandle(handle.workflowId).fetchHistory();
  const [first] = events ?? [];
  const started = events?.find((event) => event.activityTaskStartedEventAttributes);
  return atMs(started) - atMs(first);
}

const atMs = (event: { eventTime?: { seconds?: unknown; nanos?: number | null } | null } | undefined): number =>
  Number(event?.eventTime?.seconds ?? 0) * 1_000 + Number(event?.eventTime?.nanos ?? 0) / 1e6;

describe(`while the creates of ${BATCHES * ROWS} rows wait for their turn`, () => {
  const rows: TestRow[] = [];
  beforeAll(async () => {
    for (let batch = 1; batch <= BATCHES; batch += 1) {
      const some = testRows(`waiting-${batch}`, ROWS);
      rows.push(...some);
      await startRows(lab, some, { maxInFlight: ROWS });
    }
    // The last rows of a batch go once the service has answered all others.
    const started = async () => expect(await startedRows()).toBeGreaterThan(0.9 * rows.length);
    await vi.waitFor(started, { timeout: 300_000, interval: 500 });
  }, 330_000);

  test('the create of a single withdraw starts within 2 s', { timeout: 120_000 }, async () => {
    const waiting = rows.length - executedOf(lab, rows);
    const delays: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) delays.push(await startDelayMs());
    process.stdout.write(
      `${waiting} of ${rows.length} rows were waiting; single creates started after ${delays.map((ms) => ms.toFixed(0)).join(', ')} ms\n`,
    );
    expect(waiting).toBeGreaterThan(rows.length / 2);
    expect(Math.max(...delays)).toBeLessThan(LIMIT_MS);
  });
});
