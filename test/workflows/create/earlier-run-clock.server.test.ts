import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

/** The workers' clock, which goes on only when the test says so. */
let workerMs = 0;
// Virtual time goes on while files load.
beforeAll(() => {
  workerMs = Date.now();
});
const WINDOW_MS = 10_000;
const lab = useLab({ nowMs: () => workerMs, pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } } });

test('whatever clock said when an earlier run may have sent, one is sent anew only after a window of its own', async () => {
  const orderId = newOrderId('earlier');
  const sentUntil = new Date(workerMs - 3_600_000).toISOString();
  const handle = await lab.orders.start('withdraw', { ...orderInput('withdraw', orderId), sentUntil });
  const creates = () => lab.requestsOf(orderId).filter((path) => path.endsWith('/order/withdraw')).length;
  await sleep(1.5 * WINDOW_MS);
  // Longer than what the earlier run may have under way; the window begins with the first reading after that.
  workerMs += 30_000;
  await sleep(WINDOW_MS / 2);
  workerMs += 0.9 * WINDOW_MS;
  await sleep(1.5 * WINDOW_MS);
  expect((await handle.state()).phase).toBe('uncertain');
  expect(creates()).toBe(0);
  workerMs += 0.2 * WINDOW_MS;
  // An order of somebody else counts once it is some seconds old.
  const goOn = () => {
    workerMs += 100;
    return creates() > 0;
  };
  await vi.waitUntil(goOn, { timeout: 60_000, interval: 100 });
  expect((await handle.result()).outcome).toBe('completed');
  expect(creates()).toBe(1);
});
