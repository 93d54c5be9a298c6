import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { atService, decideNow, executions, parkedFor } from './parked-orders.fixture.js';

/* Temporal is lost, and the same orders are started again in an empty one, as docs/deciding.md says. */

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

/** The n-th follow-up of an order as a run that is lost has sent it; its uuid. */
async function sendFollowUp({ sandbox }: Lab, of: string, n: number, amount: string, marker = ''): Promise<string> {
  const { order } = orderInput('withdraw', `${of}.r${n}`, { marker: `pay_ms=20 after_ms=20 ${marker}`.trim() });
  const sent = await sendByHand(sandbox, { ...order, amount });
  return sent.order_uuid;
}

const PARTIAL = { marker: 'pay_ms=20 after_ms=20 outcome=completed_partially fraction=0.4' };

const paidBy = (orderId: string) => [1, 2].map((n) => executions(lost, `${orderId}.r${n}`));

/** An order of which a second follow-up paid the rest, after the first one was refused. */
async function paidBySecond(orderId: string) {
  const input = orderInput('withdraw', orderId, { ...PARTIAL, compensation: 'finish' });
  const before = await lost.orders.start('withdraw', input);
  await before.created();
  lost.sandbox.set({ faults: { 'create.400': 1 } });
  const isRefused = () => lost.requestsOf(`${orderId}.r1`).some((path) => path.endsWith('/withdraw'));
  await vi.waitUntil(isRefused, { timeout: 60_000, interval: 5 });
  // A refusal counts once the service accepts a later order.
  lost.sandbox.set({ faults: {} });
  await parkedFor(before, 'came to no order (OrderRejected)');
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

  test('what the first one paid is not told as left to whoever accepts', async () => {
    const orderId = newOrderId('lost');
    const after = await empty.orders.start('withdraw', await paidByFirst(orderId));
    await parkedFor(after, 'finish or revert takes it up');
    await decideNow(after, 'accept');
    const { remainder, remainderUnknown } = await after.result();
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r1`) });
  });
});

/** The same order in the empty Temporal, of which a run that is lost sent follow-ups: its end is the service's alone. */
async function paidInPart(orderId: string, marker = PARTIAL.marker) {
  const before = await lost.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'report' }),
  );
  await before.result();
  return (compensation: 'finish' | 'ask') =>
    empty.orders.start('withdraw', orderInput('withdraw', orderId, { marker, compensation }));
}

describe('several follow-ups of a run that is lost', { timeout: 120_000 }, () => {
  test('the second one, for which the first left nothing, is told and not passed over', async () => {
    const orderId = newOrderId('lost');
    const start = await paidInPart(orderId);
    for (const n of [1, 2]) await sendFollowUp(lost, orderId, n, '5');
    const after = await start('finish');
    const { attention } = await parkedFor(after, `${orderId}.r2 exists at the service`);
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(after, 'accept');
    const { remainder, remainderUnknown, compensation } = await after.result();
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r2`) });
    expect(compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
    expect(paidBy(orderId)).toEqual([1, 1]);
  });

  test('they are taken up one after the other, and what they paid is paid once', async () => {
    const orderId = newOrderId('lost');
    const start = await paidInPart(orderId);
    await sendFollowUp(lost, orderId, 1, '5', 'outcome=completed_partially fraction=0.5');
    await sendFollowUp(lost, orderId, 2, '2.5');
    const after = await start('finish');
    await parkedFor(after, `${orderId}.r2 exists at the service`);
    await decideNow(after, 'finish');
    expect((await after.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r2` });
    expect(paidBy(orderId)).toEqual([1, 1]);
    expect(lost.sandbox.stats().createsByOrderId).toMatchObject({ [`${orderId}.r1`]: 1, [`${orderId}.r2`]: 1 });
  });

  test('a rest too small for a follow-up now is not told as left where one exists', async () => {
    const orderId = newOrderId('lost');
    const start = await paidInPart(orderId, 'pay_ms=20 after_ms=20 outcome=completed_partially fraction=0.04');
    await sendFollowUp(lost, orderId, 1, '1');
    const { remainder, remainderUnknown, compensation } = await (await start('finish')).result();
    expect(compensation?.status).toBe('not_possible');
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r1`) });
  });
});

test('one that took what the balance had is taken up all the same: nothing is to be sent for it', async () => {
  const orderId = newOrderId('lost');
  const euros = <T extends { order: object }>(input: T): T => ({
    ...input,
    order: { ...input.order, currency: 'eur' },
  });
  const before = orderInput('withdraw', orderId, { ...PARTIAL, compensation: 'report' });
  await (await lost.orders.start('withdraw', euros(before))).result();
  const { order } = euros(orderInput('withdraw', `${orderId}.r1`, { marker: 'pay_ms=20 after_ms=20' }));
  await sendByHand(lost.sandbox, { ...order, amount: '5' });
  await vi.waitUntil(() => atService(lost, `${orderId}.r1`).order.status === 'completed');
  lost.sandbox.set({ balances: { eur: '0.10' } });
  const after = await empty.orders.start('withdraw', euros({ ...before, compensation: 'finish' }));
  await vi.waitUntil(async () => !(await after.isOpen()), { timeout: 10_000, interval: 100 });
  expect((await after.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
  expect(paidBy(orderId)).toEqual([1, 0]);
});

describe('a follow-up of a run that is lost, badly shown', { timeout: 120_000 }, () => {
  test('that was shown once is never sent again when the service shows it no more', async () => {
    const orderId = newOrderId('lost');
    const start = await paidInPart(orderId);
    const orderUuid = await sendFollowUp(lost, orderId, 1, '5');
    const after = await start('ask');
    await parkedFor(after, `${orderId}.r1 exists at the service`);
    lost.sandbox.removeOrder(orderUuid);
    await decideNow(after, 'finish');
    const { attention } = await parkedFor(after, 'came to no order');
    expect(attention?.allowed).toEqual(['accept']);
    expect(attention?.reason).toContain(`${orderId}.r1 exists at the service`);
    expect(lost.sandbox.stats().createsByOrderId[`${orderId}.r1`]).toBe(1);
  });

  test('that cannot be read leads to a person, who is told what to do, and not to silence', async () => {
    const orderId = newOrderId('lost');
    const start = await paidInPart(orderId);
    await sendFollowUp(lost, orderId, 1, '5', 'list=malformed list_times=all');
    const after = await start('finish');
    const { attention } = await parkedFor(after, 'cannot be read');
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(after, 'accept');
    const { remainder, remainderUnknown } = await after.result();
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining('cannot be read') });
    expect(paidBy(orderId)).toEqual([1, 0]);
  });
});
