import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { lookupTaskQueue } from '../contract/names.js';
import { callTemporal } from './temporal-calls.js';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** True when somebody has asked for the account's look-ups in the last minutes: every worker does that serves it. */
export async function isAccountServed(client: Client, account: string): Promise<boolean> {
  const { pollers } = await callTemporal(client, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: lookupTaskQueue(account) },
      taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
    }),
  );
  return (pollers ?? []).length > 0;
}
