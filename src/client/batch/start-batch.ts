import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import type { BatchInput, BatchPlan } from '../../contract/batch/batch.js';
import { batchInputDifferences } from '../../contract/differences/starts.js';
import {
  BULK_WITHDRAW_WORKFLOW,
  batchPlanWorkflowId,
  batchWorkflowId,
  DEFAULT_ACCOUNT,
  ORDERS_TASK_QUEUE,
  searchAttribute,
} from '../../contract/names.js';
import { bounded, type WaitOptions } from '../bounded.js';
import { ConflictError, FailedError, NoWorkerError } from '../errors.js';
import { readFirstInput } from '../history.js';
import { waitWithin } from '../remote-run.js';
import { INTERACTIVE_PRIORITY } from '../start-options.js';
import { CHECK_WITHIN, callTemporal, startUnlessTaken, throwNoWorker } from '../temporal-calls.js';
import { BatchHandle, type BatchWorkflow } from './batch-handle.js';

/** If no worker takes a first step within this time, no worker is running. */
const FIRST_STEP_WITHIN_MS = 30_000;
/** History length of a workflow that no worker has taken: started, task scheduled. */
export const UNTOUCHED_EVENTS = 2;

/** Has a worker check the file. Throws FailedError (bad rows by line) and NoWorkerError. */
export async function planBatch(client: Client, input: BatchInput, wait: WaitOptions = {}): Promise<BatchPlan> {
  const workflowId = batchPlanWorkflowId(input.account ?? DEFAULT_ACCOUNT, randomUUID());
  const plan = () => planByWorker(client, workflowId, input);
  try {
    return await bounded(client, wait, plan, () => throwNoWorker(client));
  } catch (error) {
    // Without a worker, plans would pile up. The bounded call would cancel this one at its end.
    const end = async () => {
      await client.workflow.getHandle(workflowId).terminate('no caller waits for it');
    };
    if (!(error instanceof FailedError))
      await client.withDeadline(Date.now() + CHECK_WITHIN.timeoutMs, end).catch(() => undefined);
    throw error;
  }
}

async function planByWorker(client: Client, workflowId: string, input: BatchInput): Promise<BatchPlan> {
  const handle = await callTemporal(client, () =>
    client.workflow.start<BatchWorkflow>(BULK_WITHDRAW_WORKFLOW, {
      workflowId,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ ...input, planOnly: true }],
      staticSummary: 'plan of a batch, sends nothing',
      priority: { priorityKey: INTERACTIVE_PRIORITY },
    }),
  );
  const about = { subject: 'batch', timeoutMs: FIRST_STEP_WITHIN_MS } as const;
  const planned = async (): Promise<BatchPlan> =>
    waitWithin(
      client,
      about,
      async () => (await handle.result()).plan,
      async () => {
        const { historyLength } = await callTemporal(client, () => handle.describe());
        if (historyLength > UNTOUCHED_EVENTS) return planned();
        throw new NoWorkerError(ORDERS_TASK_QUEUE);
      },
    );
  return planned();
}

/** Batch input with its id. */
type NamedBatchInput = BatchInput & { batchId: string };

const sourceOf = ({ file, rows }: BatchInput): string => (file ? file.path : `${rows?.length ?? 0} inline rows`);

/** Returns the start options. A closed batch keeps its id unless the caller asked for `again`. */
export function batchStartOptions(input: NamedBatchInput) {
  const account = input.account ?? DEFAULT_ACCOUNT;
  return {
    workflowId: batchWorkflowId(account, input.batchId),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: input.again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    typedSearchAttributes: [
      { key: searchAttribute.account, value: account },
      { key: searchAttribute.batchId, value: input.batchId },
      { key: searchAttribute.needsAttention, value: false },
    ],
    // Summaries hold at most 200 bytes.
    staticSummary: `batch from ${Buffer.from(sourceOf(input)).subarray(0, 150).toString().replace(/�$/u, '')}`,
  } satisfies WorkflowStartOptions<BatchWorkflow>;
}

/**
 * Starts a checked batch, or attaches to the run with its id. Throws ConflictError. `fromRows`: the
 * caller gave rows, even if uploaded as a file.
 */
export async function startBatch(client: Client, input: NamedBatchInput, fromRows = false): Promise<BatchHandle> {
  const account = input.account ?? DEFAULT_ACCOUNT;
  const options = batchStartOptions(input);
  const unanswered = `It is not known whether batch ${input.batchId} was started: start the same one again, which is safe`;
  if (await startUnlessTaken<BatchWorkflow>(client, BULK_WITHDRAW_WORKFLOW, options, unanswered)) {
    return new BatchHandle(client, account, input.batchId, false);
  }
  const first = await callTemporal(client, () => readFirstInput<BatchInput>(client, options.workflowId));
  const found = batchInputDifferences(input, first.input);
  const fields = [...new Set(found.map((field) => (fromRows && field.startsWith('file.') ? 'rows' : field)))];
  if (first.workflowType !== BULK_WITHDRAW_WORKFLOW) fields.unshift('workflow type');
  if (fields.length > 0) throw new ConflictError('batch', input.batchId, fields);
  return new BatchHandle(client, account, input.batchId, true);
}
