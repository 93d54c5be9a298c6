import { afterEach, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { useLab } from '../../support/lab.js';
import { atService, decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

/** Read at every attempt; each test sets them for itself. */
const caps = new Map<string, string>();

const lab = useLab({ limits: { caps } });
afterEach(() => lab.sandbox.set({ faults: {}, outcomes: {} }));

const HALF = 'outcome=completed_partially fraction=0.4';
const creates = (orderId: string): number => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;
const cancel = (handle: OrderHandle) => lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
/** The service lets a final order turn into another status. */
const turn = (orderId: string, status: 'completed') =>
  lab.sandbox.turnOrder(atService(lab, orderId).order.order_uuid, status);

/** A follow-up once it waits for an approval; until then it may not even have been started. */
async function aboveCap(orderId: string): Promise<OrderHandle> {
  const child = lab.orders.order(orderId);
  const waits = () =>
    child.state().then(
      ({ phase }) => phase === 'parked',
      () => false,
    );
  await vi.waitUntil(waits, { timeout: 60_000, interval: 50 });
  return child;
}

/** A payout of 12.50 of which 5 are left, whose follow-up waits above the cap. */
async function followUpAboveCap(amount?: string) {
  caps.clear();
  const order = amount ? { amount } : {};
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish', order });
  await handle.final();
  caps.set('usd', '3');
  const child = await aboveCap(`${orderId}.r1`);
  return { orderId, handle, child };
}

test('a follow-up approved after its order became completed is not sent, and a person is asked', async () => {
  const { orderId, handle, child } = await followUpAboveCap();
  turn(orderId, 'completed');
  await decideNow(child, 'approve');
  await expect(child.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  const { attention } = await parkedFor(handle, `order ${orderId} has changed since this was made for it (status)`);
  expect(attention?.reason).toContain('the final status was completed_partially and now reads completed');
  expect(attention?.allowed).toEqual(['accept']);
  expect(creates(`${orderId}.r1`)).toBe(0);
  await decideNow(handle, 'accept');
  expect((await handle.result()).compensation).toMatchObject({ status: 'failed', order_id: `${orderId}.r1` });
});

test('cancelling the order stops a follow-up that has not sent; what is left waits for a person', async () => {
  const { orderId, handle, child } = await followUpAboveCap();
  await cancel(handle);
  await expect(child.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  const { attention } = await parkedFor(handle, `order ${orderId}.r1 was cancelled before anything was sent`);
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  expect(creates(`${orderId}.r1`)).toBe(0);
  caps.clear();
  await decideNow(handle, 'finish');
  expect((await handle.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r2` });
  expect(executions(lab, `${orderId}.r2`)).toBe(1);
});

test('a follow-up that a person decided on after a cancellation is not stopped by it', async () => {
  caps.clear();
  const marker = { marker: HALF, compensation: 'ask' } as const;
  const { orderId, handle } = await startSteered(lab, 'withdraw', marker);
  await parkedFor(handle);
  await cancel(handle);
  await parkedFor(handle, 'it was cancelled');
  await decideNow(handle, 'finish');
  expect((await handle.result()).compensation).toMatchObject({ status: 'done' });
  expect(executions(lab, `${orderId}.r1`)).toBe(1);
});

test('a second follow-up is not sent once the first one has changed', async () => {
  // What a partial follow-up leaves, which the sandbox draws, must be above the minimum of another one.
  const { orderId, handle, child } = await followUpAboveCap('400');
  await cancel(child);
  await parkedFor(handle, 'came to no order');
  lab.sandbox.set({ outcomes: { completed_partially: 1 } });
  caps.clear();
  await decideNow(handle, 'finish');
  await parkedFor(handle, `the follow-up ${orderId}.r2 ended completed_partially`);
  caps.set('usd', '0.01');
  await decideNow(handle, 'finish');
  const last = await aboveCap(`${orderId}.r3`);
  turn(`${orderId}.r2`, 'completed');
  await decideNow(last, 'approve');
  await expect(last.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  await parkedFor(handle, `order ${orderId}.r2 has changed since this was made for it (status)`);
  expect(creates(`${orderId}.r3`)).toBe(0);
  await decideNow(handle, 'accept');
});

test('after a create without a clear answer a changed order stops the second one, and only proof closes it', async () => {
  const { orderId, handle, child } = await followUpAboveCap();
  lab.sandbox.set({ faults: { 'create.503-before': 1 } });
  caps.clear();
  await decideNow(child, 'approve');
  await vi.waitUntil(() => creates(`${orderId}.r1`) === 1, { timeout: 60_000, interval: 20 });
  lab.sandbox.set({ faults: { 'status.503': 1 } });
  turn(orderId, 'completed');
  lab.sandbox.set({ faults: {} });
  const { attention } = await parkedFor(
    child,
    `not sent again: order ${orderId} has changed since this was made for it`,
  );
  expect(attention?.allowed).toEqual(['resend', 'close-absent']);
  await decideNow(child, 'resend');
  await parkedFor(child, 'not sent again');
  await decideNow(child, 'close-absent');
  await expect(child.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
  await parkedFor(handle, 'now reads completed');
  expect(creates(`${orderId}.r1`)).toBe(1);
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
  await decideNow(handle, 'accept');
});
