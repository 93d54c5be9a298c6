import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { confirmAttempt, createActivities } from '../../src/activities/index.js';
import { createTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, useLab } from '../support/lab.js';
import { impatientWorkflowBundle } from '../support/temporal.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';

vi.setConfig({ testTimeout: 200_000 });
const ATTENTION_AFTER_MS = 4_000;
const WINDOW_MS = 5_000;
const LATER_MS = 1_500;

const lab = useLab({
  ...{ callbacks: false, workers: false },
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const running: { worker: Worker; run: Promise<void> }[] = [];
let common: { connection: Lab['temporal']['nativeConnection']; namespace: string };
let activities: ReturnType<typeof createActivities>;

async function work(options: { taskQueue: string; workflowBundle?: { code: string } }) {
  const worker = await Worker.create({ ...common, ...options, activities });
  const one = { worker, run: worker.run() };
  running.push(one);
  return async () => {
    worker.shutdown();
    await one.run;
    running.splice(running.indexOf(one), 1);
  };
}

beforeAll(async () => {
  const accounts = await openAccounts(lab.config.accounts);
  activities = createActivities({ ...lab.config, accounts, confirmAttempt });
  common = { connection: lab.temporal.nativeConnection, namespace: lab.temporal.namespace };
  await work({ taskQueue: ORDERS_TASK_QUEUE, workflowBundle: await impatientWorkflowBundle(ATTENTION_AFTER_MS) });
  await work({ taskQueue: lookupTaskQueue('default') });
});
afterAll(async () => {
  for (const { worker } of running) worker.shutdown();
  await Promise.all(running.map(({ run }) => run));
});

async function createAttempts(workflowId: string): Promise<number> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((e) => e.activityTaskScheduledEventAttributes?.activityType?.name === 'createOrder')
    .length;
}

async function waitingResend(marker = '', order = {}) {
  const stop = await work({ taskQueue: createTaskQueue('default') });
  const input = orderInput('withdraw', newOrderId('resend'), { marker: `create=500-before duplicate=c ${marker}` });
  const handle = await lab.orders.start('withdraw', { ...input, order: { ...input.order, ...order } });
  await vi.waitUntil(() => serviceView(lab, handle.orderId).creates === 1, { timeout: 60_000, interval: 20 });
  // An order that is accepted a fifth of the window later, by which absence is believed.
  await sleep(LATER_MS);
  const later = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('resend-later')));
  await later.created();
  await stop();
  await vi.waitUntil(async () => (await createAttempts(handle.workflowId)) === 2, { timeout: 60_000, interval: 100 });
  return handle;
}

test('a re-send that no worker took before its order was cancelled is not sent: a person is asked', async () => {
  const handle = await waitingResend();
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  await vi
    .waitUntil(async () => (await createAttempts(handle.workflowId)) === 3, { timeout: 30_000, interval: 100 })
    .catch(() => undefined);
  const stop = await work({ taskQueue: createTaskQueue('default') });
  await vi.waitUntil(async () => (await handle.state()).phase === 'parked', { timeout: 60_000, interval: 200 });
  await stop();
  expect(serviceView(lab, handle.orderId)).toMatchObject({ executed: 0 });
});

test('a re-send that no worker took before a delayed order was late is not sent: a person is asked', async () => {
  const handle = await waitingResend('', { delay_order_for_minutes: 1 });
  await sleep(75_000);
  const stop = await work({ taskQueue: createTaskQueue('default') });
  await vi.waitUntil(async () => (await handle.state()).phase === 'parked', { timeout: 60_000, interval: 200 });
  await stop();
  expect(serviceView(lab, handle.orderId)).toMatchObject({ executed: 0 });
});
