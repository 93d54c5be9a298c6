import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';

vi.setConfig({ testTimeout: 150_000 });

const WINDOW_MS = 8_000;
const lab = useGatedLab(undefined, {
  callbacks: false,
  quiet: true,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
afterEach(() => {
  lab.gate.rule = () => undefined;
});

const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

function show(isShown: (orderId: string) => boolean): void {
  lab.gate.rule = ({ path, orderId, body }) => {
    const operation = operationOf(path);
    const orders = lab.sandbox.orders().filter(({ order }) => isShown(order.user_order_id));
    if (operation === 'list') return listOf(body, orders);
    const isKnown = orders.some(({ order }) => order.user_order_id === orderId || body.includes(order.order_uuid));
    return operation === 'status' && !isKnown ? { status: 400, body: '{}' } : undefined;
  };
}

async function deposit(orderId: string) {
  const handle = await lab.orders.start(
    'deposit',
    orderInput('deposit', orderId, { marker: 'create=500-after duplicate=c' }),
  );
  await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
  return handle;
}

test('the list is empty for longer than the window, and another order is accepted within it, which is not shown either', async () => {
  show(() => false);
  const orderId = 'Deposit-empty.1';
  await deposit(orderId);
  await sleep(WINDOW_MS / 2);
  await lab.orders.start('withdraw', orderInput('withdraw', 'Accepted-since-and-not-shown.1'));
  await sleep(WINDOW_MS * 2);
  expect(executed(orderId)).toBe(1);
});

test('the service keeps ids in lower case, and only orders in lower case are known', async () => {
  await lab.orders.start('withdraw', orderInput('withdraw', 'before-in-lower-case-1'));
  await sleep(WINDOW_MS / 2 + 1_000);
  const orderId = 'Deposit-Folded.1';
  show((id) => id !== orderId);
  await deposit(orderId);
  await sleep(WINDOW_MS * 2 + 4_000);
  expect(executed(orderId)).toBe(1);
});
