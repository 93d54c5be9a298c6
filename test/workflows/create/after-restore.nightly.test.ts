import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { type GateAnswer, openGate, type ServiceGate } from '../../support/service-gate.js';
import { decideNow, executions, parkedFor } from '../compensation/parked-orders.fixture.js';

/* A backup knows an order as not sent; it was sent since, and the service does not show it before a test says so. */

/** Longer than a task may wait for a worker that was stopped before the server hands it to another one (10 s). */
const WINDOW_MS = 15_000;

let lab: Lab;
let gate: ServiceGate;
/** How the service answers reads of orders. */
let reads: 'as they are' | 'without any' | 'not at all' = 'as they are';
/** What it answers to every create. */
let creates: GateAnswer | undefined;

const isList = (path: string) => path.endsWith('/order/list');

beforeAll(async () => {
  lab = await openLab({
    workers: false,
    callbacks: false,
    limits: { caps: new Map([['usd', '20']]) },
    pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
    serviceUrl: async (url) => {
      gate = await openGate(url, ({ path }) => {
        if (isList(path) || path.endsWith('/order/status')) return answerOf(path);
        return path.endsWith('/order/withdraw') ? creates : undefined;
      });
      return gate.url;
    },
  });
});
afterAll(async () => {
  await lab?.close();
  await gate?.shut();
});
beforeEach(async () => {
  [reads, creates] = ['as they are', undefined];
  await lab.stopWorkers();
});

const EMPTY = { status: 200, body: JSON.stringify({ status: 'success', data: [] }) };
const UNKNOWN = { status: 400, body: '{}' };
const answerOf = (path: string): GateAnswer | undefined => {
  if (reads === 'as they are') return undefined;
  if (reads === 'not at all') return { status: 503, body: '{}' };
  return isList(path) ? EMPTY : UNKNOWN;
};

/** The service shows what it has, later, and well within the window. */
const showLater = () =>
  setTimeout(() => {
    reads = 'as they are';
  }, 1_500);

const payout = (amount: string) => {
  const input = orderInput('withdraw', newOrderId('restored'), { marker: 'duplicate=c after_ms=20' });
  return { ...input, order: { ...input.order, amount } as CreateRequests['withdraw'] };
};

const cancel = ({ workflowId }: OrderHandle) => lab.temporal.client.workflow.getHandle(workflowId).cancel();

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

/** Looked for once and not found. */
async function looked(handle: OrderHandle, before: number): Promise<void> {
  const lists = () => gate.about(handle.orderId, 'list').length;
  await vi.waitUntil(() => lists() > before, { timeout: 20_000, interval: 20 });
}

async function aboveCap(isPaid: boolean) {
  await lab.startWorkers();
  const input = payout('21');
  const handle = await lab.orders.start('withdraw', input);
  await parkedFor(handle, 'above the cap');
  if (isPaid) await pay(input.order);
  const restoredAtMs = await restore();
  if (!isPaid) reads = 'as they are';
  return { handle, restoredAtMs, before: gate.about(handle.orderId, 'list').length };
}

test('refused above a cap soon after a restore, an order that was sent and is not shown yet is found and followed', async () => {
  const { handle, before } = await aboveCap(true);
  await decideNow(handle, 'refuse');
  await looked(handle, before);
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, handle.orderId)).toBe(1);
});

test('cancelled, too', async () => {
  const { handle, before } = await aboveCap(true);
  await cancel(handle);
  await looked(handle, before);
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});

test('one of which there is nothing ends once that is proven over the window since the restore', async () => {
  const { handle, restoredAtMs } = await aboveCap(false);
  await decideNow(handle, 'refuse');
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  expect(Date.now() - restoredAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
});

/** An order that waits for the service, which another run has sent meanwhile. */
async function waiting() {
  creates = { status: 503, body: '{}' };
  const accounts = new Map(
    [...lab.config.accounts].map(([name, own]) => [name, { ...own, notExecutedStatuses: [503] }]),
  );
  await lab.startWorkers({ accounts });
  const input = payout('12.50');
  const handle = await lab.orders.start('withdraw', input);
  const isWaiting = async () => (await handle.state()).waitingFor.startsWith('the service: ');
  await vi.waitUntil(isWaiting, { timeout: 20_000, interval: 20 });
  // It waits ever longer.
  await vi.waitUntil(() => gate.about(handle.orderId, 'create').length > 3, { timeout: 60_000, interval: 20 });
  return { handle, input };
}

test('cancelled while it waits for the service, an order that was sent and is not shown yet is found and followed', async () => {
  const { handle, input } = await waiting();
  await pay(input.order);
  await restore();
  const before = gate.about(handle.orderId, 'list').length;
  await cancel(handle);
  await looked(handle, before);
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});

test('a cancellation while probes fail soon after a restore ends nothing that was sent', async () => {
  const input = payout('12.50');
  await pay(input.order);
  await restore();
  reads = 'not at all';
  const handle = await lab.orders.start('withdraw', input);
  await looked(handle, 1);
  await cancel(handle);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  reads = 'without any';
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});

/** A start as an older version took it: with a field that is refused now. */
const startLoosely = (input: ReturnType<typeof payout>) =>
  lab.temporal.client.workflow.start(workflowTypeOf('withdraw'), {
    workflowId: `order:default:${input.order.order_id}`,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ ...input, order: { ...input.order, later: 'refused' } }],
  });

test('an input that is refused more strictly than when it was sent ends no order after a restore', async () => {
  const input = payout('12.50');
  await pay(input.order);
  await restore();
  const handle = await startLoosely(input);
  await vi.waitUntil(() => gate.about(input.order.order_id, 'list').length > 0, { timeout: 20_000, interval: 20 });
  showLater();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});

test('one of which there is nothing is refused once that is proven', async () => {
  const input = payout('12.50');
  const restoredAtMs = await restore();
  reads = 'as they are';
  const handle = await startLoosely(input);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
  expect(Date.now() - restoredAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
  expect(gate.about(input.order.order_id, 'create')).toHaveLength(0);
});
