import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cardNumber } from '../support/batch-files.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { type BatchLab, openBatchLab, untilState } from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';

const ROWS = 1_000;

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab({ workers: false });
});
afterAll(async () => {
  await endProcesses();
  await lab?.close();
});

test(`${ROWS} rows from code, kill -9 of the worker during the upload and while it sends: none is executed twice`, async () => {
  const { temporal, orders, folder } = lab;
  const run = newOrderId('uploaded');
  // Large enough for several parts.
  const text = 'ж'.repeat(250);
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    ...{ order_id: `${run}-${index + 1}`, currency: 'usd', network: 'card', amount: '12.50', description: text },
    ...{ wallet: cardNumber(index + 1), client_info: { client_id: text } },
  }));
  const input = { rows, startedBy: 'ann', batchId: run, maxInFlight: 100 };
  const uploads = async () => (await temporal.client.workflow.count("WorkflowType = 'batchFiles'")).count;
  // What a kill left uncertain is sent again only beside later orders of the same window.
  const settings = { ORDER_SETTLE_WINDOW: '10s' };
  let worker = startBatchWorker(lab, settings);
  const kill = async () => {
    worker.kill('SIGKILL');
    await worker.exited;
    worker = startBatchWorker(lab, settings);
  };
  await worker.ready;
  // The first call is cut with the worker, or ends without an answer: the same call again goes on.
  const repeated = (async () => {
    for (;;) {
      const batch = await orders.batches.start(input).catch((error: { kind?: string }) => {
        if (error.kind === 'failed' || error.kind === 'noWorker') return undefined;
        throw error;
      });
      if (batch) return batch;
    }
  })();
  await vi.waitFor(async () => expect(await uploads()).toBeGreaterThan(1), { timeout: 60_000, interval: 20 });
  await kill();
  const batch = await repeated;
  const [name = ''] = await readdir(join(folder, 'uploads', 'default'));
  expect(name).toMatch(/^[0-9a-f]{64}\.ndjson$/);
  expect(await uploads()).toBeGreaterThanOrEqual(3);
  await vi.waitFor(() => untilState(batch, ({ progress }) => progress.started >= 200), { timeout: 400_000 });
  await kill();
  expect(await orders.batches.start(input)).toMatchObject({ attached: true });
  const { outcomes } = await batch.result();
  const { executedByOrderId } = lab.sandbox.stats();
  expect(Math.max(...Object.values(executedByOrderId))).toBe(1);
  // A create that a kill cut is never guessed: a person may have to look at a few rows.
  expect(outcomes).toMatchObject({ completed: ROWS - outcomes.parked, notStarted: 0, refused: 0, conflict: 0 });
  expect(outcomes.parked).toBeLessThanOrEqual(10);
  const { orders: parked } = await orders.list({ batchId: run, needsAttention: true });
  process.stdout.write(
    `parked: ${parked.map(({ orderId, attention }) => `${orderId} ${attention?.code}`).join(', ')}\n`,
  );
  const unpaid = rows.filter((row) => executedByOrderId[row.order_id] !== 1).map((row) => row.order_id);
  expect(parked.map(({ orderId }) => orderId)).toEqual(expect.arrayContaining(unpaid));
}, 1_500_000);
