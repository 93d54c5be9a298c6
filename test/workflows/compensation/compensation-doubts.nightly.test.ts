import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Lab, openLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered, trueRemainder } from './parked-orders.fixture.js';

const HALF = 'outcome=completed_partially fraction=0.4';

let lab: Lab;
beforeAll(async () => {
  // Every order without a marker, so every follow-up, ends in error.
  const settings = { outcomes: { error: 1 } };
  lab = await openLab({ sandbox: { settings }, pace: { confirmDelayMs: 2_000 } });
});
afterAll(() => lab?.close());

test('a follow-up that ends in error parks its order; accepted, the compensation has failed', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  const { attention } = await parkedFor(handle, `the follow-up ${orderId}.r1 ended error`);
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  await decideNow(handle, 'accept');
  expect(await handle.result()).toMatchObject({
    remainder: trueRemainder(lab, orderId),
    compensation: {
      policy: 'finish',
      status: 'failed',
      order_id: `${orderId}.r1`,
      outcome: 'error',
      reason: 'ended error; accepted by ann: as agreed',
    },
  });
  expect(executions(lab, `${orderId}.r1`)).toBe(1);
});

/** Parks an order whose first follow-up ended as asked for; those after it complete. */
async function afterFirst(outcome: 'error' | 'completed_partially' | 'canceled') {
  lab.sandbox.set({ outcomes: { [outcome]: 1 } });
  // Large enough for what a partial follow-up leaves, which the sandbox draws, to be above the minimum of another one.
  const order = { amount: '400' };
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, order, compensation: 'finish' });
  const { attention } = await parkedFor(handle, `the follow-up ${orderId}.r1 ended ${outcome}`);
  lab.sandbox.set({ outcomes: { completed: 1 } });
  return { orderId, handle, attention };
}

describe('after a follow-up that did not complete', () => {
  afterAll(() => lab?.sandbox.set({ outcomes: { error: 1 } }));

  test('of which nobody can tell what it moved, it may only be accepted', async () => {
    const { orderId, handle, attention } = await afterFirst('canceled');
    expect(attention).toMatchObject({ allowed: ['accept'], reason: expect.stringContaining('not documented') });
    await decideNow(handle, 'accept');
    expect((await handle.result()).compensation).toMatchObject({ status: 'failed', order_id: `${orderId}.r1` });
  });
});

/** Waits until the first of the two readings was begun: the probe's list request, then the reading's, of two pages. */
const firstReading = (orderId: string) =>
  vi.waitUntil(() => lab.requestsOf(orderId).filter((path) => path.endsWith('/list')).length >= 2, {
    timeout: 60_000,
    interval: 10,
  });

test('a follow-up that the service refuses parks its order', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  await firstReading(orderId);
  lab.sandbox.set({ faults: { 'create.400': 1 } });
  const isRefused = () => lab.requestsOf(`${orderId}.r1`).some((path) => path.endsWith('/withdraw'));
  await vi.waitUntil(isRefused, { timeout: 60_000, interval: 5 });
  // A refusal counts once the service accepts a later order.
  lab.sandbox.set({ faults: {} });
  const { attention } = await parkedFor(handle, `the follow-up ${orderId}.r1 came to no order (OrderRejected)`);
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  await decideNow(handle, 'accept');
  const { compensation } = await handle.result();
  expect(compensation).toMatchObject({ status: 'failed', order_id: `${orderId}.r1` });
  expect(compensation).not.toHaveProperty('outcome');
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
});

test('a final status that reads differently later asks, and nothing moves', async () => {
  const reason = 'the final status was completed_partially and now reads on_hold';
  const { orderId, handle } = await startSteered(lab, 'exchange', { marker: HALF, compensation: 'finish' });
  await firstReading(orderId);
  lab.sandbox.set({ faults: { 'list.unknown-status': 1, 'status.unknown-status': 1 } });
  const { attention } = await parkedFor(handle, 'two readings of the order differ');
  expect(attention).toMatchObject({ allowed: ['accept'], reason: expect.stringContaining(reason) });
  await decideNow(handle, 'accept');
  const result = await handle.result();
  lab.sandbox.set({ faults: {} });
  expect(result).toMatchObject({ outcome: 'completed_partially', compensation: { status: 'none' } });
  expect(result.remainderUnknown).toContain(reason);
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
});
