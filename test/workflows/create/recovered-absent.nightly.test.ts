import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 250_000 });

const WINDOW_MS = 4_000;
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

test('an order that the order list showed is recovered, and then not shown by its ids for a while: it is not absent, and not sent again', async () => {
  const orderId = newOrderId('recovered');
  const input = orderInput('withdraw', orderId, { marker: 'after_ms=200000 duplicate=c callback=drop' });
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
  const uuid = lab.sandbox.orders().find(({ order }) => order.user_order_id === orderId)?.order.order_uuid ?? '';
  // Look-ups by id or uuid are behind; lists of a day show it.
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list' && body.includes('order_ids')) return listOf(body, others);
    return operation === 'status' && (asked === orderId || body.includes(uuid))
      ? { status: 400, body: '{}' }
      : undefined;
  };
  await lab.orders.reconcile({ recover: true });
  const handle = lab.orders.order(orderId);
  await parkedFor(handle, 'the order list showed order', 120_000);
  await decideNow(handle, 'close-absent');
  await handle.result({ timeoutMs: 90_000 }).catch((error: unknown) => error as { type?: string; message: string });
  const again = await lab.orders.start('withdraw', input, { again: true }).catch((error: Error) => error.message);
  const until = Date.now() + 60_000;
  while (typeof again !== 'string' && executed(orderId) < 2 && Date.now() < until) await sleep(500);
  expect(executed(orderId)).toBe(1);
});
