import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { ServiceGate } from '../../support/service-gate.js';
import { executions } from '../compensation/parked-orders.fixture.js';

/* Terminating an order does not take back the request that its worker has under way. */

const SETTLE_MS = 2_500;
/** Within the time that a worker waits for an answer. */
const HELD_MS = 15_000;

let lab: Lab;
let gate: ServiceGate;

beforeAll(async () => {
  lab = await openLab({
    callbacks: false,
    pace: { settleWindowMs: { atOnce: SETTLE_MS, deposit: SETTLE_MS } },
    serviceUrl: async (url) => {
      gate = new ServiceGate(url, async () => Date.now());
      gate.rule = async ({ path, orderId }) => {
        const isFirst = path.endsWith('/order/deposit') && gate.about(String(orderId), 'create').length === 1;
        if (isFirst) await sleep(HELD_MS);
        return undefined;
      };
      await gate.open();
      return gate.url;
    },
  });
});
afterAll(async () => {
  await lab?.close();
  await gate?.shut();
});

test('terminated while its create is under way, and started again at once, it is adopted once it is there, and not created twice', async () => {
  const input = orderInput('deposit', newOrderId('mid-send'), { marker: 'duplicate=c' });
  const handle = await lab.orders.start('deposit', input);
  await vi.waitUntil(() => gate.about(handle.orderId, 'create').length > 0, { timeout: 20_000, interval: 20 });
  await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
  const again = await lab.orders.start('deposit', { ...input, sentUntil: new Date().toISOString() }, { again: true });
  const result = await again.result();
  await sleep(Math.max(0, HELD_MS - SETTLE_MS));
  expect(executions(lab, again.orderId), 'created at the service').toBe(1);
  expect(result).toMatchObject({ outcome: 'completed', adopted: true });
});
