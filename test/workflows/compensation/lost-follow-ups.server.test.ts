import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor } from './parked-orders.fixture.js';

/* Temporal is lost, and the same orders are started again in an empty one, as docs/operating.md says. */

const pace = { settleWindowMs: { atOnce: 1_000, deposit: 1_000 } };

let lost: Lab;
let empty: Lab;
beforeAll(async () => {
  lost = await openLab({ pace, callbacks: false });
  empty = await openLab({ pace, callbacks: false, serviceUrl: async () => lost.sandbox.url });
});
afterAll(async () => {
  await empty?.close();
  await lost?.close();
});

const PARTIAL = { marker: 'pay_ms=20 after_ms=20 outcome=completed_partially fraction=0.4' };

const paidBy = (orderId: string) => [1, 2].map((n) => executions(lost, `${orderId}.r${n}`));

/** An order of which a second follow-up paid the rest, after the first one was refused. */
async function paidBySecond(orderId: string) {
  const input = orderInput('withdraw', orderId, { ...PARTIAL, compensation: 'finish' });
  const before = await lost.orders.start('withdraw', input);
  await before.created();
  lost.sandbox.set({ faults: { 'create.400': 1 } });
  await parkedFor(before, 'came to no order (OrderRejected)');
  lost.sandbox.set({ faults: {} });
  await decideNow(before, 'finish');
  await before.result();
  expect(paidBy(orderId)).toEqual([0, 1]);
  return input;
}

/** An order of which the first follow-up paid the rest, as a person decided. */
async function paidByFirst(orderId: string) {
  const input = orderInput('withdraw', orderId, PARTIAL);
  const before = await lost.orders.start('withdraw', input);
  await parkedFor(before);
  await decideNow(before, 'finish');
  await before.result();
  expect(paidBy(orderId)).toEqual([1, 0]);
  return input;
}

describe('follow-ups of a run that is lost', { timeout: 120_000 }, () => {
  test('what the second one paid is not paid again by the first one, and is not told as left', async () => {
    const orderId = newOrderId('lost');
    const after = await empty.orders.start('withdraw', await paidBySecond(orderId));
    const { attention } = await parkedFor(after, `${orderId}.r2 exists at the service`);
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(after, 'accept');
    const { remainder, remainderUnknown } = await after.result();
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r2`) });
    expect(paidBy(orderId)).toEqual([0, 1]);
  });

  test('what the first one paid is taken up by whoever finishes', async () => {
    const orderId = newOrderId('lost');
    const after = await empty.orders.start('withdraw', await paidByFirst(orderId));
    await parkedFor(after, `${orderId}.r1 exists at the service`);
    await decideNow(after, 'finish');
    expect((await after.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
    expect(paidBy(orderId)).toEqual([1, 0]);
  });

  test('what the first one paid is not told as left to whoever accepts', async () => {
    const orderId = newOrderId('lost');
    const after = await empty.orders.start('withdraw', await paidByFirst(orderId));
    await parkedFor(after, 'finish or revert takes it up');
    await decideNow(after, 'accept');
    const { remainder, remainderUnknown } = await after.result();
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r1`) });
  });
});
