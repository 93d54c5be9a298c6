import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';

/** Waits for an activity of a workflow that is scheduled and not ended, of any type where none is named; answers its id. */
export async function pendingActivity(client: Client, workflowId: string, type?: string): Promise<string> {
  const pending = async () => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ activityType }) => type === undefined || activityType?.name === type);
  };
  const { activityId } = (await vi.waitUntil(pending, { timeout: 30_000, interval: 20 })) ?? {};
  return activityId ?? '';
}

/** An operator pauses the create that is sending, or gives it more attempts, and fails it by its id. */
export async function giveUpCreate(client: Client, namespace: string, workflowId: string, pause = true): Promise<void> {
  const id = await pendingActivity(client, workflowId, 'createOrder');
  const target = { namespace, execution: { workflowId }, id, identity: 'operator' };
  const failure = { message: 'given up', applicationFailureInfo: { type: 'GivenUp' } };
  if (pause) await client.workflowService.pauseActivity(target);
  else {
    await client.workflowService.updateActivityOptions({
      ...target,
      activityOptions: { retryPolicy: { maximumAttempts: 5, initialInterval: { seconds: 60 as never } } },
      updateMask: { paths: ['retry_policy.maximum_attempts', 'retry_policy.initial_interval'] },
    });
  }
  await client.workflowService.respondActivityTaskFailedById({ ...target, workflowId, activityId: id, failure });
}

/** Only to make tests short: the attempt of a worker that is lost times out after a second. */
export const timeOutCreate = (
  client: Client,
  namespace: string,
  workflowId: string,
  limit: '1 second' | '5 seconds' = '1 second',
) =>
  client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId },
    type: 'createOrder',
    activityOptions: { startToCloseTimeout: msToTs(limit) },
    updateMask: { paths: ['start_to_close_timeout'] },
  });

/** Waits until an order is in doubt. */
export const untilUncertain = (handle: OrderHandle) =>
  vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 60_000, interval: 100 });

/** Waits until an order knows that its worker was lost before it could send. */
export const untilLost = (handle: OrderHandle) =>
  vi.waitUntil(async () => (await handle.state()).waitingFor.includes('was lost before it could send'), {
    timeout: 60_000,
    interval: 100,
  });
