import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { executions } from '../compensation/parked-orders.fixture.js';

/* Terminating an order does not take back the request that its worker has under way. */

const SETTLE_MS = 2_500;
/** Within the time that a worker waits for an answer. */
const HELD_MS = 15_000;

const lab = useGatedLab(
  async ({ path, orderId }) => {
    if (!path.endsWith('/order/deposit')) return undefined;
    const creates = lab.gate.about(String(orderId), 'create').length;
    // So that the next run knows where to send.
    if (creates === 1) return { status: 400, body: '{}' };
    if (creates === 2) await sleep(HELD_MS);
    return undefined;
  },
  { callbacks: false, pace: { settleWindowMs: { atOnce: SETTLE_MS, deposit: SETTLE_MS } } },
);

test('terminated while its create is under way, and started again at once, it is adopted once it is there, and not created twice', async () => {
  const input = orderInput('deposit', newOrderId('mid-send'), { marker: 'duplicate=c' });
  const refused = await lab.orders.start('deposit', input);
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const stopped = await lab.orders.start('deposit', input, { again: true });
  await vi.waitUntil(() => lab.gate.about(stopped.orderId, 'create').length === 2, { timeout: 60_000, interval: 20 });
  await lab.temporal.client.workflow.getHandle(stopped.workflowId).terminate('by mistake');
  const again = await lab.orders.start('deposit', { ...input, sentUntil: new Date().toISOString() }, { again: true });
  // By then another create would have been sent; an order that is there twice comes to no result.
  await sleep(HELD_MS);
  expect(lab.gate.about(again.orderId, 'create'), 'creates: one refused, one under way').toHaveLength(2);
  expect(await again.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, again.orderId), 'created at the service').toBe(1);
});
