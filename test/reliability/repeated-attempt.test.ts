import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { confirmAttempt, createActivities } from '../../src/activities/index.js';
import { createTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import type { CreateOrderInput } from '../../src/contract/order/activities.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { pendingActivity } from '../support/pending-activity.js';
import { workflowBundle } from '../support/temporal.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';

/** The order is executed at once and shown only after this long, which is less than the settle window. */
const HIDDEN_MS = 75_000;
const WINDOW_MS = 80_000;

let lab: Lab;
let workers: Worker[];
let running: Promise<void>[];
/** Ends the attempt that does not answer. */
const testEnds = new AbortController();
const attempts: number[] = [];

beforeAll(async () => {
  const pace = { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } };
  lab = await openLab({ callbacks: false, workers: false, pace });
  const accounts = await openAccounts(lab.config.accounts);
  const activities = createActivities({ ...lab.config, accounts, confirmAttempt });
  // As a worker that is cut off from Temporal after its send: the server hears nothing more of the first attempt.
  const createOrder = async (input: CreateOrderInput) => {
    const answer = await activities.createOrder(input);
    attempts.push(activityInfo().attempt);
    if (attempts.length === 1) await sleep(600_000, undefined, { signal: testEnds.signal }).catch(() => undefined);
    return answer;
  };
  const common = { connection: lab.temporal.nativeConnection, namespace: lab.temporal.namespace };
  workers = await Promise.all([
    Worker.create({ ...common, taskQueue: ORDERS_TASK_QUEUE, activities, workflowBundle: workflowBundle() }),
    Worker.create({ ...common, taskQueue: createTaskQueue('default'), activities: { ...activities, createOrder } }),
    Worker.create({ ...common, taskQueue: lookupTaskQueue('default'), activities }),
  ]);
  running = workers.map((worker) => worker.run());
});
afterAll(async () => {
  testEnds.abort();
  for (const worker of workers ?? []) worker.shutdown();
  await Promise.all(running);
  await lab?.close();
});

test('an operator lets the server repeat a create attempt: the second one sends nothing, and the order is adopted', async () => {
  const orderId = newOrderId('repeated');
  const marker = `duplicate=c lag_ms=${HIDDEN_MS} after_ms=${HIDDEN_MS}`;
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  await vi.waitUntil(() => attempts.length === 1, { timeout: 60_000, interval: 20 });
  const { client, namespace } = lab.temporal;
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId: handle.workflowId },
    identity: 'operator',
    id: await pendingActivity(client, handle.workflowId, 'createOrder'),
    activityOptions: { retryPolicy: { maximumAttempts: 3 } },
    updateMask: { paths: ['retry_policy.maximum_attempts'] },
  });
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  // The server did repeat it.
  expect(attempts).toEqual([1, 2]);
  expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 1 });
}, 240_000);
