import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test, vi } from 'vitest';
import { createTaskQueue, DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { accountWith, newOrderId, useLab } from '../support/lab.js';
import { giveUpCreate } from '../support/pending-activity.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const lab = useLab({ pace: { settleWindowMs: { atOnce: 20_000, deposit: 20_000 } } });

const cancel = (workflowId: string) => lab.temporal.client.workflow.getHandle(workflowId).cancel();
const endOf = (handle: { result(): Promise<{ outcome: string }> }) =>
  handle.result().then(
    ({ outcome }) => outcome,
    (error: { type?: string; message: string }) => error.type ?? error.message,
  );

/** An operator pauses the attempt that is sending, and ends it; then somebody cancels the order. */
async function pauseFailCancel(workflowId: string, pause = true): Promise<void> {
  const { client, namespace } = lab.temporal;
  await giveUpCreate(client, namespace, workflowId, pause);
  await cancel(workflowId);
}

for (const [how, pause] of [
  ['paused', true],
  ['given more attempts', false],
] as const) {
  test(`a create that is ${how} while it is sent, and failed by its id, ends as what was paid though its order is cancelled`, async () => {
    const orderId = newOrderId('paused');
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: 'create=no-answer duplicate=c', resend: 'never' }),
    );
    await vi.waitUntil(() => serviceView(lab, orderId).executed === 1, { timeout: 60_000, interval: 20 });
    await pauseFailCancel(handle.workflowId, pause);
    const end = await endOf(handle);
    expect(end).toBe('completed');
  });

  test(`an order whose create was ${how}, failed and cancelled is paid once, also when it is started again before the service shows it`, async () => {
    const orderId = newOrderId('again');
    const input = orderInput('withdraw', orderId, {
      marker: 'create=no-answer duplicate=c lag_ms=15000',
      resend: 'never',
    });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitUntil(() => serviceView(lab, orderId).executed === 1, { timeout: 60_000, interval: 20 });
    await pauseFailCancel(handle.workflowId, pause);
    const end = await endOf(handle);
    if (end !== 'completed') {
      await endOf(await lab.orders.start('withdraw', input, { again: true }));
    }
    expect(serviceView(lab, orderId).executed).toBe(1);
  });
}

test('an order is not called cancelled while a second attempt waits for a worker', async () => {
  await lab.replaceWorkers(accountWith(lab, { name: 'other' }));
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('two-attempts')));
  const { client, namespace } = lab.temporal;
  const taskQueue = { name: createTaskQueue(DEFAULT_ACCOUNT) };
  const { taskToken } = await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: 'x' }),
  );
  const details = { payloads: [defaultPayloadConverter.toPayload({ host: 'payments.example' })] };
  await client.workflowService.recordActivityTaskHeartbeat({ namespace, taskToken, details });
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId: handle.workflowId },
    type: 'createOrder',
    activityOptions: { retryPolicy: { maximumAttempts: 5 } },
    updateMask: { paths: ['retry_policy.maximum_attempts'] },
  });
  const failure = { message: 'it died', applicationFailureInfo: {} };
  await client.workflowService.respondActivityTaskFailed({ namespace, taskToken, failure });
  await sleep(2_000);
  await cancel(handle.workflowId);
  const end = await Promise.race([endOf(handle), sleep(8_000).then(() => 'open')]);
  expect(end).not.toBe('OrderCancelled');
});
