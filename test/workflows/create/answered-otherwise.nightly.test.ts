import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';

vi.setConfig({ testTimeout: 120_000 });

const WINDOW_MS = 6_000;
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

test.each(['other-amount', 'other-wallet', 'crossed'])(
  'a create is answered 200 with an order (%s) that look-ups do not show for a while: it is not sent again by itself',
  async (fault) => {
    const orderId = newOrderId('answered');
    lab.gate.rule = ({ path, orderId: asked, body }) => {
      const operation = operationOf(path);
      const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
      if (operation === 'list') return listOf(body, others);
      return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
    };
    await lab.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: `create=${fault} duplicate=c callback=drop` }),
    );
    await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
    await sleep(3 * WINDOW_MS);
    expect(executed(orderId)).toBe(1);
  },
);
