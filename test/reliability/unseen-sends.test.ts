import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useGatedLab } from '../support/lab.js';
import { pendingActivity } from '../support/pending-activity.js';
import { type GateRule, listOf, operationOf } from '../support/service-gate.js';
import { parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { resetTo, resettableEvents, runOf, terminate } from './reset.fixture.js';

vi.setConfig({ maxConcurrency: 5 });

/** How long absence is read here for payouts; for deposits it is shorter than a request may take (20 s). */
const WINDOW_MS = 6_000;

const rules = new Map<string, GateRule>();
const lab = useGatedLab((request) => rules.get(request.orderId ?? '')?.(request), {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: 15_000 } },
});

test.concurrent('a reset while the re-send was made to wait: the look-up of the new run proves nothing about the old one', async () => {
  const orderId = newOrderId('waited');
  const creates = () => lab.gate.about(orderId, 'create').length;
  const answers = [
    { status: 500, body: '{}' },
    { status: 429, headers: { 'retry-after': '1' }, body: '{}' },
  ];
  rules.set(orderId, ({ path }) => (path.endsWith('/order/withdraw') ? answers.shift() : undefined));
  // The third create is executed, and neither list nor status shows it for 4 s.
  const marker = 'duplicate=c lag_ms=4000 after_ms=4500';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  await vi.waitUntil(() => creates() === 3, { timeout: 60_000, interval: 5 });
  const run = await runOf(lab, handle);
  const { events } = await lab.temporal.client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const scheduled = (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: activity }) =>
    activity?.activityType?.name === 'createOrder' ? [Number(eventId)] : [],
  );
  const [, second = 0, third = 0] = scheduled;
  const between = (await resettableEvents(lab, run)).find((id) => Number(id) > second && Number(id) < third);
  // The new run waits for the service as the old one did, and then wants to send.
  await resetTo(lab, run, String(between));
  expect((await handle.result()).order.user_order_id).toBe(orderId);
  expect(serviceView(lab, orderId)).toMatchObject({ executed: 1 });
  expect(creates()).toBe(3);
});

test.concurrent('a reset while orders are hidden: the new run hears of a later order first, and sends nothing by itself', async () => {
  const [orderId, before] = [newOrderId('hidden'), newOrderId('before')];
  await (await lab.orders.start('withdraw', orderInput('withdraw', before))).created();
  let isHidden = true;
  rules.set(orderId, ({ path, body }) => {
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operationOf(path) === 'list') return listOf(body, isHidden ? [] : others);
    return operationOf(path) === 'status' ? { status: 400, body: '{}' } : undefined;
  });
  const marker = 'create=500-after duplicate=c';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  await parkedFor(handle, 'does not show orders that it confirmed');
  const run = await runOf(lab, handle);
  const asking = (await resettableEvents(lab, run)).at(-1) ?? '';
  isHidden = false;
  const cut = await resetTo(lab, run, asking);
  // The run before it may have heard of the later order, and have sent again since.
  const doubts = async () => (await handle.state()).waitingFor.includes('the workflow was reset');
  const resent = () => serviceView(lab, orderId).creates > 1;
  await vi.waitUntil(async () => resent() || (await doubts()), { timeout: 40_000, interval: 100 });
  await sleep(2 * WINDOW_MS);
  expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 1 });
  await terminate(lab, cut);
});

test.concurrent('an operator fails a create whose request is under way: absence counts only once that is over', async () => {
  const orderId = newOrderId('failed-by-hand');
  const creates = () => lab.gate.about(orderId, 'create').length;
  rules.set(orderId, async ({ path }) => {
    // Well within the 20 s that a request may take.
    if (path.endsWith('/order/deposit') && creates() === 1) await sleep(17_500);
    return undefined;
  });
  const handle = await lab.orders.start('deposit', orderInput('deposit', orderId, { marker: 'duplicate=c' }));
  await vi.waitUntil(() => creates() === 1, { timeout: 20_000, interval: 20 });
  const { workflowId } = handle;
  const activityId = await pendingActivity(lab.temporal.client, workflowId, 'createOrder');
  await lab.temporal.client.activity.fail({ workflowId, activityId }, new Error('by hand'));
  expect((await handle.created()).user_order_id).toBe(orderId);
  expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 1 });
});
