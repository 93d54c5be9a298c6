import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startBatch } from '../../src/client/batch/start-batch.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { type BatchLab, csvOf, openBatchLab, testRows } from '../workflows/batch/batches.fixture.js';
import { type Restorable, startRestorable } from './restorable.fixture.js';

/* The service shows nothing new until a test says so, and takes used ids for second orders. */

const AN_HOUR_MS = 3_600_000;

let temporal: Restorable;
let lab: BatchLab;

beforeEach(async () => {
  temporal = await startRestorable();
  lab = await openBatchLab({
    temporalAddress: temporal.address,
    workers: false,
    callbacks: false,
    pace: { settleWindowMs: { atOnce: 15_000, deposit: 15_000 } },
    sandbox: { settings: { duplicateMode: 'c', visibilityLagMs: AN_HOUR_MS } },
  });
});
afterEach(async () => {
  await lab?.close();
  await temporal?.close();
});

const executedOf = (orderIds: readonly string[]): number[] => {
  const { executedByOrderId } = lab.sandbox.stats();
  return orderIds.map((id) => executedByOrderId[id] ?? 0);
};

/**
 * Backs Temporal up before its workers sent these orders, lets them be paid, and puts the backup back. Ends once each order was
 * looked for twice in the restored Temporal, and the service shows them all. `meanwhile` happens right before it does.
 */
async function restoreAfterPaying(orderIds: readonly string[], meanwhile = async () => {}): Promise<void> {
  const directories = { batchDir: lab.folder, reportDir: lab.folder };
  const once = orderIds.map(() => 1);
  await temporal.backUp();
  await lab.startWorkers({ directories });
  await vi.waitFor(() => expect(executedOf(orderIds)).toEqual(once), { timeout: 60_000 });
  await lab.stopWorkers();

  await temporal.restore();
  const asked = () => orderIds.map((id) => lab.requestsOf(id).length);
  const before = asked();
  await lab.startWorkers({ directories, restoredAtMs: Date.now() });
  const lookedFor = () => asked().every((count, at) => count > (before[at] ?? 0) + 1);
  await vi.waitUntil(lookedFor, { timeout: 60_000, interval: 50 });
  await meanwhile();
  lab.sandbox.set({ visibilityLagMs: 0 });
}

test('Temporal restored from a backup of before a create was sent, while the service does not show it yet: it is paid once', {
  timeout: 180_000,
}, async () => {
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('restored')));
  await restoreAfterPaying([order.orderId]);
  const result = await order.result();
  expect(executedOf([order.orderId])).toEqual([1]);
  expect(result).toMatchObject({ outcome: 'completed', adopted: true });
});

test('an order cancelled while a restored Temporal may have forgotten its create ends as what was paid', {
  timeout: 180_000,
}, async () => {
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('restored')));
  const { workflowId } = order;
  await restoreAfterPaying([order.orderId], async () => {
    await lab.temporal.client.workflow.getHandle(workflowId).cancel();
    // An end that came at once would come before the service shows the order.
    await sleep(3_000);
  });
  expect(await order.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executedOf([order.orderId])).toEqual([1]);
});

test('one of which there is nothing ends as cancelled, once that is proven', { timeout: 180_000 }, async () => {
  const restoredAtMs = Date.now();
  await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder }, restoredAtMs });
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('restored')));
  await vi.waitUntil(() => lab.requestsOf(order.orderId).length > 1, { timeout: 60_000, interval: 50 });
  await lab.temporal.client.workflow.getHandle(order.workflowId).cancel();
  await expect(order.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  expect(Date.now()).toBeGreaterThan(restoredAtMs + 15_000);
  expect(executedOf([order.orderId])).toEqual([0]);
});

test('a batch whose rows were started after the backup starts them again, and each is paid once', {
  timeout: 180_000,
}, async () => {
  const rows = testRows('restored', 5);
  const path = 'restored.csv';
  await writeFile(join(lab.folder, path), csvOf(rows));
  const batch = await startBatch(lab.temporal.client, {
    batchId: newOrderId('batch'),
    file: { path },
    startedBy: 'ann',
  });
  const orderIds = rows.map(({ id }) => id);
  await restoreAfterPaying(orderIds);
  const result = await batch.result();
  expect(executedOf(orderIds)).toEqual(rows.map(() => 1));
  expect(result).toMatchObject({ outcomes: { completed: 5 } });
});
