import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 180_000 });

const LATE_MS = 75_000;

const lab = useLab({
  ...{ workers: false, sandbox: { timeScale: 1 } },
  pace: { settleWindowMs: { atOnce: 5_000, deposit: 5_000 } },
});

test('orders that a worker takes 75 s late are sent with the rest of their delay, or not at all', async () => {
  const start = (label: string, order: object, options: object = {}) => {
    const input = orderInput('withdraw', newOrderId(label));
    return lab.orders.start('withdraw', { ...input, ...options, order: { ...input.order, ...order } });
  };
  const creates = (orderId: string) => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;
  const latestSend = new Date(Date.now() + LATE_MS / 2).toISOString();
  const one = await start('one-minute', { delay_order_for_minutes: 1 });
  const two = await start('two-minutes', { delay_order_for_minutes: 2 });
  const until = await start('latest-send', {}, { latestSend });
  await sleep(LATE_MS);
  await lab.startWorkers();
  const { attention } = await parkedFor(one, 'the time that it was to start at has passed');
  expect(attention).toMatchObject({ code: 'not-sent', allowed: ['resend', 'close-absent'] });
  await expect(until.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  const { start_order_at: startAt, created_at: createdAt } = await two.created();
  expect((Date.parse(`${startAt}Z`) - Date.parse(`${createdAt}Z`)) / 60_000).toBe(1);
  expect([one, two, until].map(({ orderId }) => creates(orderId))).toEqual([0, 1, 0]);
});

test('a late order that a person permits after a restore is sent, once absence is proven over the window since', async () => {
  await lab.stopWorkers();
  const order = { ...orderInput('withdraw', newOrderId('late-restored')).order, delay_order_for_minutes: 1 };
  const handle = await lab.orders.start('withdraw', { order });
  await sleep(LATE_MS);
  await lab.startWorkers({ restoredAtMs: Date.now() });
  await parkedFor(handle, 'the time that it was to start at has passed');
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId] ?? 0).toBe(0);
  await decideNow(handle, 'resend');
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1);
});
