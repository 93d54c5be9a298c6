import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Order } from '../../../src/contract/service-objects.js';
import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

/* A person decided about a rest in a run that is lost. Another run of the same order pays nothing by its policy. */

const pace = { settleWindowMs: { atOnce: 1_000, deposit: 1_000 }, confirmDelayMs: 3_000 };
const BY_NOBODY = 'nothing is paid by itself';
const PARTIAL = 'outcome=completed_partially fraction=0.4';

let lab: Lab;
let empty: Lab;
let doubtful: Lab;
beforeAll(async () => {
  lab = await openLab({ pace, callbacks: false });
  empty = await openLab({ pace, callbacks: false, serviceUrl: async () => lab.sandbox.url });
  doubtful = await openLab({ pace: { ...pace, settleWindowMs: { atOnce: 12_000, deposit: 600 } } });
});
afterAll(() => Promise.all([empty?.close(), doubtful?.close()]).then(() => lab?.close()));

const inEuros = <T extends { order: object }>(input: T): T => ({
  ...input,
  order: { ...input.order, currency: 'eur' },
});

const isPaidInPart = ({ user_order_id: id, status }: Order, orderId: string) =>
  id === orderId && status === 'completed_partially';

/** An order whose rest (5 of 12.50 eur) a person paid by hand and accepted, because the balance was short. */
async function paidByHand(orderId: string) {
  lab.sandbox.set({ balances: { eur: '1000' } });
  const marker = `pay_ms=20 after_ms=20 ${PARTIAL}`;
  const input = inEuros(orderInput('withdraw', orderId, { marker, compensation: 'finish' }));
  const handle = await lab.orders.start('withdraw', input);
  const isPartial = () => lab.sandbox.orders().some(({ order }) => isPaidInPart(order, orderId));
  await vi.waitUntil(isPartial, { timeout: 20_000, interval: 20 });
  lab.sandbox.set({ balances: { eur: '0.10' } });
  await parkedFor(handle, 'the follow-up cannot be sent');
  lab.sandbox.set({ balances: { eur: '1000' } });
  const byHand = inEuros(orderInput('withdraw', newOrderId('by-hand')));
  await sendByHand(lab.sandbox, { ...byHand.order, amount: '5' });
  await decideNow(handle, 'accept');
  await handle.result();
  return { handle, input };
}

describe('what a person accepted after paying the rest by hand', () => {
  test.each([
    ['with', WITHOUT_UPDATES],
    ['without', []],
  ])('is not paid by a reset run, %s --reapply-exclude Update', async (_, exclude) => {
    const orderId = newOrderId('reset');
    const { handle } = await paidByHand(orderId);
    const first = await runOf(lab, handle);
    await resetTo(lab, first, (await resettableEvents(lab, first))[0] ?? '', exclude);
    await vi.waitUntil(async () => (await handle.state()).phase !== 'done', { timeout: 20_000 });
    await Promise.race([parkedFor(handle, BY_NOBODY), handle.result()]);
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });

  test('is not paid by the same start in a Temporal that was lost', async () => {
    const orderId = newOrderId('lost');
    const { input } = await paidByHand(orderId);
    const after = await empty.orders.start('withdraw', input);
    await parkedFor(after, BY_NOBODY);
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });
});

test('an order that was cancelled, and is reset to before, pays its rest by no policy', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: PARTIAL, compensation: 'finish' });
  const isBetween = async () => (await handle.state()).waitingFor.startsWith('the second reading');
  await vi.waitUntil(isBetween, { timeout: 60_000, interval: 20 });
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  await parkedFor(handle, 'cancelled before the follow-up was sent');
  const first = await runOf(lab, handle);
  await resetTo(lab, first, (await resettableEvents(lab, first))[0] ?? '', WITHOUT_UPDATES);
  await parkedFor(handle, BY_NOBODY);
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
});

test('an order that is held while its create is in doubt, and is found, pays its rest by no policy', async () => {
  const { orderId, handle } = await startSteered(doubtful, 'withdraw', {
    marker: `create=500-after lag_ms=5000 callback=drop ${PARTIAL}`,
    compensation: 'finish',
  });
  await vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 30_000, interval: 20 });
  const held = handle.hold({ by: 'Ann', reason: 'nothing more to this payee' });
  await expect(held).rejects.toThrow('If it was not, it is held');
  await parkedFor(handle, `${BY_NOBODY}: held by Ann`);
  expect(executions(doubtful, `${orderId}.r1`)).toBe(0);
});
