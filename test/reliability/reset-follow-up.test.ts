import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { useLab } from '../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';
import { resetTo, resettableEvents, runOf } from './reset.fixture.js';

const SETTLE_MS = 2_000;

const lab = useLab({ pace: { settleWindowMs: { atOnce: SETTLE_MS, deposit: SETTLE_MS } } });

test('a refused follow-up that is reset after another one was sent in its place is not sent by the budget', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.4',
    compensation: 'finish',
  });
  await handle.created();
  lab.sandbox.set({ faults: { 'create.400': 1 } });
  const isRefused = () => lab.requestsOf(`${orderId}.r1`).some((path) => path.endsWith('/withdraw'));
  await vi.waitUntil(isRefused, { timeout: 60_000, interval: 5 });
  // A refusal counts once the service accepts a later order.
  lab.sandbox.set({ faults: {} });
  await parkedFor(handle, 'came to no order (OrderRejected)');
  await decideNow(handle, 'finish');
  expect(await handle.result()).toMatchObject({ compensation: { status: 'done', order_id: `${orderId}.r2` } });

  const run = await runOf(lab, lab.orders.order(`${orderId}.r1`));
  await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
  // The attempt of the run before counts as alive for a minute.
  await sleep(62_000 + SETTLE_MS + 3_000);
  expect([executions(lab, `${orderId}.r1`), executions(lab, `${orderId}.r2`)]).toEqual([0, 1]);
  await parkedFor(lab.orders.order(`${orderId}.r1`), 'another follow-up may have been sent in its place since');
}, 150_000);
