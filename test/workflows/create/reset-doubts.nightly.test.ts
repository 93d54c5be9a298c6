import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { resetTo, resettableEvents, runOf, terminate, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { type GateRule, listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

vi.setConfig({ testTimeout: 170_000 });

const WINDOW_MS = 6_000;
const rules = new Map<string, GateRule>();
const lab = useGatedLab((request) => rules.get(request.orderId ?? '')?.(request), {
  callbacks: false,
  quiet: true,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: 15_000 } },
});

test('a person names another payment by mistake in a run that a reset made: nothing is sent by itself', async () => {
  const [orderId, before, later] = [newOrderId('hidden'), newOrderId('before-it'), newOrderId('later-than-it')];
  const placed = await (await lab.orders.start('withdraw', orderInput('withdraw', before))).created();
  let isHidden = true;
  let creates = 0;
  rules.set(orderId, ({ path, body }) => {
    const operation = operationOf(path);
    // The first create is not executed.
    if (operation === 'create') {
      creates += 1;
      return creates === 1 ? { status: 500, body: '{}' } : undefined;
    }
    // A replica that shows nothing, then one that stands still since before the second create: it shows the later order.
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, isHidden ? [] : others);
    return operation === 'status' ? { status: 400, body: '{}' } : undefined;
  });
  const marker = 'create=500-after duplicate=c';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  await parkedFor(handle, 'does not show orders that it confirmed');
  const run = await runOf(lab, handle);
  const asking = (await resettableEvents(lab, run)).at(-1) ?? '';
  isHidden = false;
  await (await lab.orders.start('withdraw', orderInput('withdraw', later))).created();
  // The run hears of the later order, proves absence, and sends again: executed, and not shown for a while.
  await vi.waitUntil(() => serviceView(lab, orderId).executed === 1, { timeout: 60_000, interval: 20 });
  isHidden = true;
  const cut = await resetTo(lab, run, asking);
  await parkedFor(handle, 'does not show orders that it confirmed');
  await decideNow(handle, 'adopt', { order_uuid: placed.order_uuid });
  isHidden = false;
  const doubts = async () => (await handle.state()).waitingFor.includes('the workflow was reset');
  const resent = () => serviceView(lab, orderId).executed > 1;
  await vi.waitUntil(async () => resent() || (await doubts()), { timeout: 80_000, interval: 100 });
  expect(serviceView(lab, orderId)).toMatchObject({ executed: 1 });
  await terminate(lab, cut);
});

test('a reset run closes what it believes unsent: the run before may have sent, so it is not absent', async () => {
  const orderId = newOrderId('late');
  rules.set(orderId, ({ path, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' ? { status: 400, body: '{}' } : undefined;
  });
  await lab.stopWorkers();
  const input = orderInput('withdraw', orderId, { marker: 'create=500-after duplicate=c' });
  const handle = await lab.orders.start('withdraw', {
    ...input,
    order: { ...input.order, delay_order_for_minutes: 1 },
  } as never);
  await sleep(62_000);
  await lab.startWorkers();
  await parkedFor(handle, 'nothing was sent');
  const run = await runOf(lab, handle);
  const asking = (await resettableEvents(lab, run)).at(-1) ?? '';
  await decideNow(handle, 'resend');
  await vi.waitUntil(() => serviceView(lab, orderId).executed === 1, { timeout: 30_000, interval: 20 });
  await resetTo(lab, run, asking, WITHOUT_UPDATES);
  await parkedFor(handle, 'nothing was sent');
  await decideNow(handle, 'close-absent');
  // Its own callback is acknowledged.
  await lab.temporal.client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError' });
  expect(serviceView(lab, orderId)).toMatchObject({ executed: 1 });
});
