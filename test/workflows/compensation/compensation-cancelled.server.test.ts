import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { serviceView } from '../create/service-view.fixture.js';
import { decideNow, parkedFor } from './parked-orders.fixture.js';

vi.setConfig({ maxConcurrency: 5 });

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ pace: { confirmDelayMs: 3_000 } });
});
afterAll(() => lab?.close());

/** Cancelled between the two readings, before the follow-up that its policy asks for. */
async function cancelledInBetween(label: string) {
  const orderId = newOrderId(label);
  const marker = 'outcome=completed_partially fraction=0.4';
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'finish' }),
  );
  const between = async () => (await handle.state()).waitingFor.startsWith('the second reading');
  await vi.waitUntil(between, { timeout: 60_000, interval: 20 });
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  const { attention } = await parkedFor(handle, 'cancelled before the follow-up was sent');
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  expect(serviceView(lab, `${orderId}.r1`).creates).toBe(0);
  return handle;
}

test.concurrent('a cancelled order sends no follow-up by itself; a person may accept what is left', async () => {
  const handle = await cancelledInBetween('accepted');
  await decideNow(handle, 'accept');
  expect(await handle.result()).toMatchObject({
    outcome: 'completed_partially',
    remainder: [{ kind: 'unpaid', currency: 'usd', amount: '5' }],
    compensation: { policy: 'finish', status: 'none' },
  });
  expect(serviceView(lab, `${handle.orderId}.r1`).creates).toBe(0);
});

test.concurrent('a person may still have it sent', async () => {
  const handle = await cancelledInBetween('finished');
  await decideNow(handle, 'finish');
  expect(await handle.result()).toMatchObject({ compensation: { status: 'done', outcome: 'completed' } });
  expect(serviceView(lab, `${handle.orderId}.r1`).executed).toBe(1);
});
