import { randomUUID } from 'node:crypto';
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { BatchPlan } from '../contract/batch/batch.js';
import type { BatchInput } from '../contract/batch/input.js';
import { batchPlanWorkflowId, DEFAULT_ACCOUNT } from '../contract/ids.js';
import { BULK_WITHDRAW_WORKFLOW, ORDERS_TASK_QUEUE } from '../contract/names.js';
import { batchFailureOf } from './batch-errors.js';
import type { BatchWorkflow } from './batch-handle.js';
import { NoWorkerError } from './errors.js';
import { INTERACTIVE_PRIORITY } from './start-options.js';
import { callTemporal, isTimeOver, translated } from './temporal-calls.js';

/** After this long without a worker's first step there is none. */
const FIRST_STEP_WITHIN_MS = 30_000;
/** Events of a workflow that nobody has taken up: started, task scheduled. */
const UNTOUCHED_EVENTS = 2;

async function resultOf(client: Client, handle: WorkflowHandle<BatchWorkflow>): Promise<BatchPlan> {
  for (;;) {
    try {
      return (await client.withDeadline(Date.now() + FIRST_STEP_WITHIN_MS, () => handle.result())).plan;
    } catch (error) {
      if (!isTimeOver(error)) throw error;
      const { historyLength } = await callTemporal(client, () => handle.describe());
      if (historyLength > UNTOUCHED_EVENTS) continue;
      // Nobody waits for it any more; without workers such plans would pile up.
      await handle.terminate('no worker took it up in time').catch(() => undefined);
      throw new NoWorkerError(ORDERS_TASK_QUEUE);
    }
  }
}

/**
 * Lets a worker check the whole file and add it up; starts no order. Throws BatchFailedError, which names bad rows by
 * their lines, and NoWorkerError.
 */
export async function planBatch(client: Client, input: BatchInput): Promise<BatchPlan> {
  const account = input.account ?? DEFAULT_ACCOUNT;
  try {
    const handle = await callTemporal(client, () =>
      client.workflow.start<BatchWorkflow>(BULK_WITHDRAW_WORKFLOW, {
        workflowId: batchPlanWorkflowId(account, randomUUID()),
        taskQueue: ORDERS_TASK_QUEUE,
        args: [{ ...input, planOnly: true }],
        staticSummary: 'plan of a batch, sends nothing',
        priority: { priorityKey: INTERACTIVE_PRIORITY },
      }),
    );
    return await resultOf(client, handle);
  } catch (error) {
    throw error instanceof WorkflowFailedError
      ? batchFailureOf(undefined, error.cause)
      : await translated(client, error);
  }
}
