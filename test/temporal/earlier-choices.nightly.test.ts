import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startBatch } from '../../src/client/batch/start-batch.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { BATCH_MESSAGES } from '../../src/contract/batch/batch.js';
import { DECIDE_UPDATE, ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import {
  type BatchLab,
  csvOf,
  executedOf,
  openBatchLab,
  testRows,
  untilState,
} from '../workflows/batch/batches.fixture.js';
import { parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { type Rogue, rogueAt, updatesIn } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

/* What a person chose is encrypted for the id, which a later run has, too, and it counts its revisions anew. */

vi.setConfig({ testTimeout: 150_000 });

let lab: BatchLab;
let rogue: Rogue;
beforeAll(async () => {
  const limits = { caps: new Map([['usd', '10']]) };
  // Over at once: a later run looks for what the one before it may have sent, and how often is in its revision.
  const pace = { settleWindowMs: { atOnce: 1, deposit: 1 } };
  lab = await openBatchLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true, limits, pace });
  rogue = rogueAt(lab);
});
afterAll(() => lab?.close());

const executed = (orderId: string): number => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;
const first = (updates: Payload[][]): Payload[] => updates[0] ?? [];

/** An order above its cap, in its third run: the second was approved for another card, at the very revision at which this one asks. */
async function askingAgain(label: string): Promise<{ order: OrderHandle; revision: number; copied: Payload[] }> {
  const input = orderInput('withdraw', newOrderId(label), { marker: 'create=400 times=2' });
  let copied: Payload[] = [];
  let approvedAt: number | undefined;
  for (const again of [false, true]) {
    const order = await lab.orders.start('withdraw', input, { again });
    const { revision } = await parkedFor(order);
    await order.decide({ action: 'approve', amount: '12.50', currency: 'usd', by: 'ann', reason: 'small', revision });
    await expect(order.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    copied = first(updatesIn(await rogue.historyOf(order.workflowId), DECIDE_UPDATE));
    approvedAt = revision;
  }
  const other = orderInput('withdraw', input.order.order_id);
  other.order.wallet = '5555555555554444';
  const order = await lab.orders.start('withdraw', other, { again: true });
  const { revision } = await parkedFor(order);
  expect(revision).toBe(approvedAt);
  return { order, revision, copied };
}

// Before: taken, and the batch sent. First in this file: the plan's digest holds the balance.
test('the approval of a plan in an earlier run of a batch approves nothing in a later one', async () => {
  const rows = testRows('again', 2, () => 'create=400 times=9').map((row) => ({ ...row, amount: '5' }));
  const batchId = newOrderId('batch');
  const path = `${batchId}.csv`;
  await writeFile(join(lab.folder, path), csvOf(rows));
  const waiting = async () => {
    const input = { batchId, file: { path }, startedBy: 'ann', approval: 'required', again: true } as const;
    const batch = await startBatch(lab.temporal.client, input);
    const { plan } = await untilState(batch, ({ phase }) => phase === 'awaitingApproval');
    return { batch, digest: plan?.digest ?? '' };
  };
  const before = await waiting();
  await before.batch.approve({ digest: before.digest, by: 'bob' });
  expect(await before.batch.result()).toMatchObject({ outcomes: { refused: 2 } });
  const copied = first(updatesIn(await rogue.historyOf(before.batch.workflowId), BATCH_MESSAGES.approve));
  const { batch, digest } = await waiting();
  expect(digest).toBe(before.digest);
  const handle = lab.temporal.client.workflow.getHandle(batch.workflowId);
  const unnamed = handle.executeUpdate(BATCH_MESSAGES.approve, { args: [{ digest, by: 'bob' }] });
  await expect(unnamed).rejects.toMatchObject({ cause: { message: expect.stringContaining('runId: required') } });
  expect(await rogue.update(batch.workflowId, BATCH_MESSAGES.approve, copied)).toBe('refused');
  expect(await batch.state()).toMatchObject({ phase: 'awaitingApproval', progress: { started: 0 } });
  expect(executedOf(lab, rows)).toBe(0);
  await batch.stop({ by: 'bob', reason: 'done' });
});

// Before: taken, and the other card was paid.
test('the approval of an earlier run approves nothing in a later one, though the revision is the same', async () => {
  const { order, revision, copied } = await askingAgain('copied');
  expect(copied).toHaveLength(1);
  expect(await rogue.update(order.workflowId, DECIDE_UPDATE, copied)).toBe('refused');
  expect(await order.state()).toMatchObject({ phase: 'parked', revision });
  expect(executed(order.orderId)).toBe(0);
  await order.decide({ action: 'approve', amount: '12.50', currency: 'usd', by: 'ann', reason: 'meant', revision });
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
});

test('nor where something without the keys accepts it past the validator: it is refused once more', async () => {
  const { order, copied } = await askingAgain('accepted');
  await lab.stopWorkers();
  const worker = rogue.acceptUpdates();
  const handedIn = rogue.update(order.workflowId, DECIDE_UPDATE, copied).catch(() => undefined);
  const events = () => rogue.historyOf(order.workflowId);
  const accepted = async () => (await events()).some((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
  await vi.waitUntil(accepted, { timeout: 60_000, interval: 100 });
  await worker.stop();
  await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
  await rogue.client.workflow.getHandle(order.workflowId).signal(ORDER_CALLBACK_SIGNAL);
  // Before it counts, the worker with the keys asks the same again.
  const refused = async () =>
    (await events()).some((event) => event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.failure);
  await vi.waitUntil(refused, { timeout: 60_000, interval: 100 });
  // The callback that woke it may be about what an earlier run sent: it was looked for, and is asked about again.
  await parkedFor(order, 'above the cap');
  expect(executed(order.orderId)).toBe(0);
  await lab.temporal.client.workflow.getHandle(order.workflowId).terminate();
  await handedIn;
});

test('a decision that names no run is refused, also of a program with the keys', async () => {
  const input = orderInput('withdraw', newOrderId('unnamed'));
  const order = await lab.orders.start('withdraw', input);
  const { revision, runId } = await parkedFor(order);
  const decision = { action: 'approve', amount: '12.50', currency: 'usd', by: 'ann', reason: 'meant', revision };
  const handle = lab.temporal.client.workflow.getHandle(order.workflowId);
  const send = (choice: object) => handle.executeUpdate(DECIDE_UPDATE, { args: [choice] });
  await expect(send(decision)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('runId: required') },
  });
  await expect(send({ ...decision, runId: 'r-1' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('runId') },
  });
  expect(executed(order.orderId)).toBe(0);
  await send({ ...decision, runId });
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
});
