import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';

vi.setConfig({ testTimeout: 120_000 });

const WINDOW_MS = 6_000;
const lab = useGatedLab(undefined, {
  callbacks: false,
  quiet: true,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

test('a deposit is answered 200 with another amount under our id, and look-ups stand still: it is not sent again by itself', async () => {
  const before = newOrderId('before-it');
  await (await lab.orders.start('withdraw', orderInput('withdraw', before))).created();
  await sleep(WINDOW_MS);
  const known = new Set(lab.sandbox.orders().map(({ order }) => order.order_uuid));
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const shown = lab.sandbox.orders().filter(({ order }) => known.has(order.order_uuid));
    if (operation === 'list') return listOf(body, shown);
    const isKnown = shown.some(({ order }) => order.user_order_id === asked || body.includes(order.order_uuid));
    return operation === 'status' && !isKnown ? { status: 400, body: '{}' } : undefined;
  };
  const orderId = newOrderId('answered');
  const marker = `create=other-amount duplicate=c callback=drop`;
  await lab.orders.start('deposit', orderInput('deposit', orderId, { marker }));
  await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
  await sleep(3 * WINDOW_MS);
  lab.gate.rule = () => undefined;
  expect(executed(orderId)).toBe(1);
});
