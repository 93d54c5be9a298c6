import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';

vi.setConfig({ testTimeout: 170_000 });

const WINDOW_MS = 6_000;
const ANN = { by: 'ann', reason: 'an incident' };
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
afterEach(async () => {
  lab.gate.rule = () => undefined;
  await lab.orders.accounts.resume('default', ANN).catch(() => undefined);
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

test('an order of a stopped account is cancelled after a failover: it ends once absence is proven', async () => {
  await lab.orders.accounts.stop('default', ANN);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('cancelled')));
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('is stopped'), {
    timeout: 60_000,
    interval: 50,
  });
  await lab.replaceWorkers({ restoredAtMs: Date.now() });
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  // 25 s and the window after the failover, and as much again.
  const endsAtMs = Date.now() + 2 * (25_000 + WINDOW_MS);
  while (Date.now() < endsAtMs && (await handle.isOpen())) await sleep(500);
  const { phase } = await handle.state();
  expect(phase).toBe('done');
});

test('look-ups of a stopped account continue: a payout whose callback came is followed', async () => {
  const orderId = newOrderId('called');
  let isHidden = true;
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    if (!isHidden) return undefined;
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
  };
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker: 'create=500-after duplicate=c' }),
  );
  await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
  await lab.orders.accounts.stop('default', ANN);
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('is stopped'), {
    timeout: 100_000,
    interval: 50,
  });
  // Its callback comes; a moment later the service shows it.
  const looks = lab.gate.about(orderId, 'list').length;
  await lab.temporal.client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  await vi.waitUntil(() => lab.gate.about(orderId, 'list').length > looks, { timeout: 60_000, interval: 20 });
  await sleep(1_500);
  isHidden = false;
  await sleep(5 * WINDOW_MS);
  const { order } = await handle.state();
  expect(order?.status).toBe('completed');
});
