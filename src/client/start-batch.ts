import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { BatchInput } from '../contract/batch/input.js';
import { batchInputDifferences } from '../contract/differences/starts.js';
import { batchWorkflowId, DEFAULT_ACCOUNT } from '../contract/ids.js';
import { maskName } from '../contract/masking.js';
import { BULK_WITHDRAW_WORKFLOW, ORDERS_TASK_QUEUE, searchAttribute } from '../contract/names.js';
import { BatchHandle, type BatchWorkflow } from './batch-handle.js';
import { BatchConflictError } from './errors.js';
import { readFirstInput } from './first-input.js';
import { callTemporal } from './temporal-calls.js';

/** Input of a batch that is ready to start: it has its name. */
export type NamedBatchInput = BatchInput & { batchId: string };

const sourceOf = ({ file, rows }: BatchInput): string => (file ? file.path : `${rows?.length ?? 0} inline rows`);

/** Markdown for the batch's page in the Temporal UI; no row. */
function details(input: NamedBatchInput): string {
  const rows: [string, string][] = [
    ['batch', input.batchId],
    ['account', input.account ?? DEFAULT_ACCOUNT],
    ['rows from', sourceOf(input)],
    ['sha256', input.file?.sha256 ?? '–'],
    ['started by', maskName(input.startedBy)],
    ['approval', input.approval ?? 'none'],
    ['compensation', input.compensation ?? 'by the table'],
  ];
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value.replaceAll('|', '\\|')} |`)].join(
    '\n',
  );
}

/** How a batch's workflow is started. A closed batch keeps its id, unless `again` was asked for. */
export function batchStartOptions(input: NamedBatchInput) {
  const account = input.account ?? DEFAULT_ACCOUNT;
  return {
    workflowId: batchWorkflowId(account, input.batchId),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: input.again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    // As with orders: an existing run is used, but only a refusal tells for sure that there is one to compare with.
    workflowIdConflictPolicy: 'FAIL',
    typedSearchAttributes: [
      { key: searchAttribute.account, value: account },
      { key: searchAttribute.batchId, value: input.batchId },
      { key: searchAttribute.needsAttention, value: false },
    ],
    // Summaries hold at most 200 bytes.
    staticSummary: `batch from ${Buffer.from(sourceOf(input)).subarray(0, 150).toString().replace(/�$/u, '')}`,
    staticDetails: details(input),
  } satisfies WorkflowStartOptions<BatchWorkflow>;
}

/**
 * Starts a checked batch, or attaches to the run that has its id, open or closed. Throws BatchConflictError when that
 * one was started with another input.
 */
export async function startBatch(client: Client, input: NamedBatchInput): Promise<BatchHandle> {
  const account = input.account ?? DEFAULT_ACCOUNT;
  try {
    const start = () => client.workflow.start<BatchWorkflow>(BULK_WITHDRAW_WORKFLOW, batchStartOptions(input));
    await callTemporal(client, start, {
      unanswered: `It is not known whether batch ${input.batchId} was started: start the same one again, which is safe`,
    });
    return new BatchHandle(client, account, input.batchId, false);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const workflowId = batchWorkflowId(account, input.batchId);
    const first = await callTemporal(client, () => readFirstInput<BatchInput>(client, workflowId));
    const fields = batchInputDifferences(input, first.input);
    if (first.workflowType !== BULK_WITHDRAW_WORKFLOW) fields.unshift('workflow type');
    if (fields.length > 0) throw new BatchConflictError(input.batchId, fields);
    return new BatchHandle(client, account, input.batchId, true);
  }
}
