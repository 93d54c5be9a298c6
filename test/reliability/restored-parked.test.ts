import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { decideNow, executions, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { type Restorable, startRestorable } from './restorable.fixture.js';

/* Parked above a cap in the backup, approved and paid since; the window after the restore is over. */

let temporal: Restorable;
let lab: Lab;
const refused = newOrderId('refused');
const cancelled = newOrderId('cancelled');

beforeAll(async () => {
  temporal = await startRestorable();
  lab = await openLab({
    temporalAddress: temporal.address,
    callbacks: false,
    limits: { caps: new Map([['usd', '10']]) },
  });
  const handles = [];
  for (const id of [refused, cancelled]) handles.push(await lab.orders.start('withdraw', orderInput('withdraw', id)));
  for (const handle of handles) await parkedFor(handle, 'cap');
  await lab.stopWorkers();
  await temporal.backUp();
  await lab.startWorkers();
  for (const handle of handles) {
    await parkedFor(handle, 'cap');
    await decideNow(handle, 'approve');
    expect((await handle.result()).outcome).toBe('completed');
  }
  await lab.stopWorkers();
  await temporal.restore();
  await lab.startWorkers({ restoredAtMs: Date.now() });
  await sleep(5_000);
}, 240_000);
afterAll(async () => {
  await lab?.close();
  await temporal?.close();
});

test('refused, it is followed to its end, and nobody reads that nothing was sent', { timeout: 60_000 }, async () => {
  const handle = lab.orders.order(refused);
  await parkedFor(handle, 'cap');
  await decideNow(handle, 'refuse');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, refused)).toBe(1);
});

test('cancelled, it is followed to its end', { timeout: 60_000 }, async () => {
  const handle = lab.orders.order(cancelled);
  await parkedFor(handle, 'cap');
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, cancelled)).toBe(1);
});
