import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { decideNow, executions, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { type Restorable, startRestorable } from './restorable.fixture.js';

/* Parked in the backup, decided and paid since; the window after the restore is over. */

let temporal: Restorable;
let lab: Lab;
const refused = newOrderId('refused');
const cancelled = newOrderId('cancelled');
const partial = newOrderId('partial');

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
  const PARTIAL = 'pay_ms=20 after_ms=20 outcome=completed_partially fraction=0.4';
  const input = orderInput('withdraw', partial, { marker: PARTIAL, compensation: 'ask' });
  const rest = await lab.orders.start('withdraw', { ...input, order: { ...input.order, currency: 'eur' } });
  await parkedFor(rest, 'are left');
  await lab.stopWorkers();
  await temporal.backUp();
  await lab.startWorkers();
  for (const handle of handles) {
    await parkedFor(handle, 'cap');
    await decideNow(handle, 'approve');
    expect((await handle.result()).outcome).toBe('completed');
  }
  await parkedFor(rest, 'are left');
  await decideNow(rest, 'finish');
  expect((await rest.result()).compensation).toMatchObject({ status: 'done', order_id: `${partial}.r1` });
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

test('accepted, what its follow-up paid since is not left', { timeout: 60_000 }, async () => {
  const handle = lab.orders.order(partial);
  await parkedFor(handle, 'are left');
  await decideNow(handle, 'accept');
  const { remainder, remainderUnknown } = await handle.result();
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${partial}.r1`) });
});
