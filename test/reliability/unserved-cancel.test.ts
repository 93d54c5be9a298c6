import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { resetTo, resettableEvents, runOf } from '../reliability/reset.fixture.js';
import { orderInput } from '../support/inputs.js';
import { accountWith, newOrderId, useLab } from '../support/lab.js';
import { pendingActivity } from '../support/pending-activity.js';

vi.setConfig({ testTimeout: 200_000 });
const ATTENTION_AFTER_MS = 4_000;

const lab = useLab({ workers: false, attentionAfterMs: ATTENTION_AFTER_MS });

const unserve = () => lab.replaceWorkers(accountWith(lab, { name: 'other' }));
const serve = () => lab.replaceWorkers();
const cancel = ({ workflowId }: OrderHandle) => lab.temporal.client.workflow.getHandle(workflowId).cancel();

async function trail({ workflowId }: OrderHandle): Promise<string[]> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map((event) => {
    const failed = event.workflowTaskFailedEventAttributes?.failure?.message;
    const name = Object.keys(event).find((key) => key.endsWith('EventAttributes') && (event as never)[key]) ?? '?';
    return `${event.eventId} ${name.replace('EventAttributes', '')}${failed ? ` FAILED: ${failed}` : ''}`;
  });
}

async function endOf(handle: OrderHandle): Promise<string> {
  const end = handle.result().then(
    ({ outcome }) => outcome as string,
    (error: { type?: string; message: string }) => error.type ?? error.message,
  );
  return Promise.race([end, sleep(60_000).then(() => 'open')]);
}

/** All workers are down while the limit passes and somebody cancels. */
async function downAndCancel(handle: OrderHandle, first: 'cancel' | 'limit'): Promise<void> {
  await pendingActivity(lab.temporal.client, handle.workflowId, 'createOrder');
  await lab.stopWorkers();
  if (first === 'cancel') await cancel(handle);
  await sleep(ATTENTION_AFTER_MS + 1_500);
  if (first === 'limit') await cancel(handle);
  await sleep(500);
  await serve();
}

for (const first of ['limit', 'cancel'] as const) {
  test(`a first run that is cancelled while no worker takes its create in time goes on, ${first} first`, async () => {
    await unserve();
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('first')));
    await downAndCancel(handle, first);
    const end = await endOf(handle);
    const events = await trail(handle);
    expect(events.filter((event) => event.includes('FAILED'))).toEqual([]);
    expect(end).not.toBe('open');
  });

  test(`a run that was started again goes on, ${first} first`, async () => {
    await serve();
    const input = orderInput('withdraw', newOrderId('again'), { marker: 'create=400' });
    await expect((await lab.orders.start('withdraw', input)).result()).rejects.toMatchObject({ type: 'OrderRejected' });
    await unserve();
    const handle = await lab.orders.start('withdraw', input, { again: true });
    await downAndCancel(handle, first);
    const end = await endOf(handle);
    const events = await trail(handle);
    expect(events.filter((event) => event.includes('FAILED'))).toEqual([]);
    expect(end).not.toBe('open');
  });

  test(`a run that was reset goes on, ${first} first`, async () => {
    await unserve();
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('reset')));
    await pendingActivity(lab.temporal.client, handle.workflowId, 'createOrder');
    const run = await runOf(lab, handle);
    await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
    const after = lab.orders.order(handle.orderId);
    await sleep(500);
    await downAndCancel(after, first);
    // The create of the run before counts as alive for 60 s, and absence is read after that.
    await vi.waitUntil(async () => (await after.state()).phase === 'parked', { timeout: 90_000, interval: 200 });
    const events = await trail(after);
    expect(events.filter((event) => event.includes('FAILED')).slice(1)).toEqual([]);
  });
}
