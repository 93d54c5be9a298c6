import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTaskQueue, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import type { CreateOrderInput } from '../../src/contract/order/activities.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { workflowBundle } from '../support/temporal.js';

/** Order ids of the create attempts that the server handed out. */
const attempts: string[] = [];

/** A create with a bug. The server may hear of it only after the request was sent. */
async function createOrder({ input }: CreateOrderInput): Promise<never> {
  attempts.push((input as { order: { order_id: string } }).order.order_id);
  throw new Error('a bug after the send');
}

const lab = useLab({ workers: false, callbacks: false });
let stopWorkers: () => Promise<unknown>;
beforeAll(async () => {
  const common = { connection: lab.temporal.nativeConnection, namespace: lab.temporal.namespace };
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue: ORDERS_TASK_QUEUE, workflowBundle: workflowBundle() }),
    Worker.create({ ...common, taskQueue: createTaskQueue('default'), activities: { createOrder } }),
  ]);
  const runs = workers.map((worker) => worker.run());
  stopWorkers = () => {
    for (const worker of workers) worker.shutdown();
    return Promise.all(runs);
  };
});
afterAll(async () => {
  await stopWorkers?.();
});

test('a create that fails in its worker is never repeated by the server', async () => {
  const handles = await Promise.all(
    ORDER_TYPES.map((type) => lab.orders.start(type, orderInput(type, newOrderId('single')))),
  );
  // Nobody answers the look-ups that follow, so a second attempt could only be the server's.
  for (const handle of handles) {
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'uncertain' }), 20_000);
  }
  expect(attempts.sort()).toEqual(handles.map(({ orderId }) => orderId).sort());
});
