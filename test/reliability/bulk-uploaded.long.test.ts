import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { cardNumber } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { untilState, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';

const ROWS = 1_000;
const IN_FLIGHT = 100;

const lab = useBatchLab({ workers: false });
afterAll(endProcesses);

test(`${ROWS} rows from code, kill -9 of the worker during the upload and while it sends: none is executed twice`, async () => {
  const { temporal, orders, folder } = lab;
  const run = newOrderId('uploaded');
  // Large enough for several parts.
  const text = 'ж'.repeat(250);
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    ...{ order_id: `${run}-${index + 1}`, currency: 'usd', network: 'card', amount: '12.50', description: text },
    ...{ wallet: cardNumber(index + 1), client_info: { client_id: text } },
  }));
  const input = { rows, startedBy: 'ann', batchId: run, maxInFlight: IN_FLIGHT };
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
  // The second kill leaves creates that only orders of other callers can follow.
  for (const count of [ROWS / 5, ROWS - 10]) {
    await vi.waitFor(() => untilState(batch, ({ progress }) => progress.started >= count), { timeout: 400_000 });
    await kill();
  }
  expect(await orders.batches.start(input)).toMatchObject({ attached: true });
  const { outcomes } = await batch.result();
  expect(outcomes).toMatchObject({ completed: ROWS - outcomes.parked, notStarted: 0, refused: 0, conflict: 0 });
  // A create that a kill cut is never guessed. The last rows have no later order that would prove its absence.
  expect(outcomes.parked).toBeLessThanOrEqual(IN_FLIGHT);
  const { orders: parked } = await orders.list({ batchId: run, needsAttention: true });
  const unpaid = rows.map((row) => row.order_id).filter((id) => !lab.sandbox.stats().executedByOrderId[id]);
  expect(parked.map(({ orderId }) => orderId)).toEqual(expect.arrayContaining(unpaid));
  expect(parked.filter(({ attention }) => attention?.code !== 'uncertain-create')).toEqual([]);
  process.stdout.write(`${ROWS} rows: ${parked.length} waited for a later order, ${unpaid.length} of them unpaid\n`);
  // Each order that the service shows later lets them go on, without a person. Its id must be at least as long.
  const others = setInterval(() => {
    void orders.start('withdraw', orderInput('withdraw', newOrderId(`${run}-later`))).catch(() => undefined);
  }, 1_000);
  const waiting = async () => (await orders.list({ batchId: run, needsAttention: true })).orders.length;
  await vi
    .waitFor(async () => expect(await waiting()).toBe(0), { timeout: 300_000, interval: 1_000 })
    .finally(() => clearInterval(others));
  const ended = rows.map(({ order_id: id }) => orders.order(id).result());
  expect(new Set((await Promise.all(ended)).map(({ outcome }) => outcome))).toEqual(new Set(['completed']));
  const { executedByOrderId } = lab.sandbox.stats();
  expect(rows.filter((row) => executedByOrderId[row.order_id] !== 1)).toEqual([]);
}, 1_500_000);
