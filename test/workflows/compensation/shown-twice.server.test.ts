import { afterEach, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, useLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

/* The service shows two orders under one id of ours, and one of them is not ours. */

const lab = useLab({ sandbox: { settings: { duplicateMode: 'c' } }, pace: { confirmDelayMs: 2_000 } });
afterEach(() => lab.sandbox.set({ outcomes: {}, faults: {} }));

const HALF = 'outcome=completed_partially fraction=0.4';
const TWIN = 'the service shows another order';
const paysAgain = async ({ sandbox }: Lab, orderId: string, amount = '12.50', marker = 'pay_ms=20 after_ms=20') => {
  const { order } = orderInput('withdraw', orderId, { marker });
  return (await sendByHand(sandbox, { ...order, amount })).order_uuid;
};

/** Nothing was sent for the order; a person accepts, and the result does not say that something is left. */
async function onlyAccepted(handle: OrderHandle, followUpId: string) {
  const { attention } = await parkedFor(handle, TWIN);
  expect(attention?.allowed).toEqual(['accept']);
  await decideNow(handle, 'accept');
  const { remainder, remainderUnknown } = await handle.result();
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(TWIN) });
  expect(executions(lab, followUpId)).toBe(0);
}

const secondReading = (handle: OrderHandle) =>
  vi.waitUntil(async () => (await handle.state()).waitingFor.startsWith('the second reading'), {
    timeout: 60_000,
    interval: 20,
  });

test.for(['before the first reading', 'between the two readings'])(
  'what a payout left is not paid if it was executed twice: %s',
  async (when) => {
    const marker = when.startsWith('before') ? `create=twice ${HALF}` : HALF;
    const { orderId, handle } = await startSteered(lab, 'withdraw', { marker, compensation: 'finish' });
    if (marker === HALF) {
      await secondReading(handle);
      await paysAgain(lab, orderId);
    }
    await onlyAccepted(handle, `${orderId}.r1`);
  },
);

test('what is left of one of two that a person adopted is not paid', async () => {
  const marker = `create=500-before ${HALF}`;
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker, compensation: 'finish', resend: 'never' });
  await parkedFor(handle);
  const ours = await paysAgain(lab, orderId, '12.50', `pay_ms=20 after_ms=20 ${HALF}`);
  await paysAgain(lab, orderId);
  await decideNow(handle, 'adopt', { order_uuid: ours });
  await onlyAccepted(handle, `${orderId}.r1`);
});

test('an order that ended in error beside a running twin is not told as still on the balance', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: 'outcome=error after_ms=5000' });
  await handle.created();
  await paysAgain(lab, orderId);
  const { outcome, remainder, remainderUnknown } = await handle.result();
  expect(outcome).toBe('error');
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(TWIN) });
});

test('a follow-up that ended in error beside a completed twin is not offered again', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  await secondReading(handle);
  lab.sandbox.set({ outcomes: { error: 1 } });
  const isSent = () => lab.sandbox.orders().some(({ order }) => order.user_order_id === `${orderId}.r1`);
  await vi.waitUntil(isSent, { timeout: 60_000, interval: 5 });
  lab.sandbox.set({ outcomes: {} });
  await paysAgain(lab, `${orderId}.r1`, '5');
  await onlyAccepted(handle, `${orderId}.r2`);
});
