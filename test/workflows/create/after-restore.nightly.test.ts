import { beforeEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import type { GateAnswer } from '../../support/service-gate.js';

/* A backup knows an order as not sent; it was sent since, and the service does not show it before a test says so. */

/** Longer than a task may wait for a worker that was stopped before the server hands it to another one (10 s). */
const WINDOW_MS = 15_000;

/** How the service answers reads of orders. */
let reads: 'as they are' | 'without any' = 'as they are';

const isList = (path: string) => path.endsWith('/order/list');

const lab = useGatedLab(({ path }) => (isList(path) || path.endsWith('/order/status') ? answerOf(path) : undefined), {
  workers: false,
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
beforeEach(async () => {
  reads = 'as they are';
  await lab.stopWorkers();
});

const EMPTY = { status: 200, body: JSON.stringify({ status: 'success', data: [] }) };
const UNKNOWN = { status: 400, body: '{}' };
const answerOf = (path: string): GateAnswer | undefined => {
  if (reads === 'as they are') return undefined;
  return isList(path) ? EMPTY : UNKNOWN;
};

/** The service shows what it has, later, and well within the window. */
const showLater = () =>
  setTimeout(() => {
    reads = 'as they are';
  }, 1_500);

const payout = () => orderInput('withdraw', newOrderId('restored'), { marker: 'duplicate=c after_ms=20' });

const pay = async (request: CreateRequests['withdraw']) =>
  (await serviceOf(lab.sandbox)).createOrder('withdraw', request);

/** Restores Temporal while an order waits, which was sent after the backup was made. Answers since when it is restored. */
async function restore(): Promise<number> {
  reads = 'without any';
  await lab.stopWorkers();
  const restoredAtMs = Date.now();
  await lab.startWorkers({ restoredAtMs });
  return restoredAtMs;
}

/** A start as an older version took it: with a field that is refused now. */
const startLoosely = (input: ReturnType<typeof payout>) =>
  lab.temporal.client.workflow.start(workflowTypeOf('withdraw'), {
    workflowId: `order:default:${input.order.order_id}`,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ ...input, order: { ...input.order, later: 'refused' } }],
  });

test('an input that is refused more strictly than when it was sent ends no order after a restore', async () => {
  const input = payout();
  await pay(input.order);
  await restore();
  const handle = await startLoosely(input);
  await vi.waitUntil(() => lab.gate.about(input.order.order_id, 'list').length > 0, { timeout: 20_000, interval: 20 });
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});

test('one of which there is nothing is refused once that is proven', async () => {
  const input = payout();
  const restoredAtMs = await restore();
  reads = 'as they are';
  const handle = await startLoosely(input);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
  expect(Date.now() - restoredAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
  expect(lab.gate.about(input.order.order_id, 'create')).toHaveLength(0);
});
