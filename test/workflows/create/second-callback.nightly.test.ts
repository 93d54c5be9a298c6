import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 170_000 });

const WINDOW_MS = 6_000;
const ANN = { by: 'ann', reason: 'an incident' };
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

function hide(orderId: string, before: (operation: string) => Promise<void> = async () => undefined): void {
  lab.gate.rule = async ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (asked === orderId) await before(operation);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
  };
}

test('a further callback comes while the re-send that a person permitted after the first one is under way', async () => {
  const orderId = newOrderId('twice-called');
  hide(orderId);
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker: 'create=500-after duplicate=c' }),
  );
  const callback = () => lab.temporal.client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
  await callback();
  await parkedFor(handle, 'a callback came for it');
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  hide(orderId, async (operation) => {
    if (operation !== 'list') return;
    isHeld = true;
    await held;
  });
  await decideNow(handle, 'resend');
  await vi.waitUntil(() => isHeld, { timeout: 60_000, interval: 20 });
  await callback();
  await sleep(1_000);
  release();
  await sleep(6_000);
  expect(executed(orderId)).toBe(1);
});

test('an order in doubt of a stopped account is cancelled: a person may close it', async () => {
  const orderId = newOrderId('cancelled-in-doubt');
  hide(orderId);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'create=500-before' }));
  await vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 60_000, interval: 20 });
  await lab.orders.accounts.stop('default', ANN);
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('is stopped'), {
    timeout: 100_000,
    interval: 50,
  });
  await handle.cancel();
  await sleep(20_000);
  const { attention } = await handle.state();
  await lab.orders.accounts.resume('default', ANN);
  expect(attention?.allowed).toContain('close-absent');
});
