import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import type { BatchInput, BatchPlan } from '../contract/batch/batch.js';
import { batchInputDifferences } from '../contract/differences/starts.js';
import { maskName } from '../contract/masking.js';
import {
  BULK_WITHDRAW_WORKFLOW,
  batchPlanWorkflowId,
  batchWorkflowId,
  DEFAULT_ACCOUNT,
  defaultBatchId,
  ORDERS_TASK_QUEUE,
  searchAttribute,
} from '../contract/names.js';
import { BatchHandle, type BatchWorkflow } from './batch-handle.js';
import { checkBatchInput, checkedForAccount, formatChecksOf } from './checked-input.js';
import { ConflictError, NoWorkerError } from './errors.js';
import { readFirstInput } from './history.js';
import { waitWithin } from './remote-run.js';
import { detailsTable, INTERACTIVE_PRIORITY } from './start-options.js';
import { callTemporal, startUnlessTaken } from './temporal-calls.js';

/** What `plan` and `start` take; `batchId` omitted = the first 16 hex digits of the hash of its rows. */
export type BatchStart = Omit<BatchInput, 'planOnly'>;

const checked = (client: Client, input: unknown): Promise<BatchInput> =>
  checkedForAccount(
    (formatChecks) => checkBatchInput(input, formatChecks),
    (account) => formatChecksOf(client, account),
  );

/** Withdrawals by the file. Every method may throw TemporalUnreachableError. */
export class Batches {
  readonly #client: Client;

  /** Made by PaymentOrders. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Checks the whole file and says what it would do: rows, totals, fees, balances, warnings, digest. Starts no order.
   * Throws InvalidInputError, FailedError (bad rows by their lines, no such file) and NoWorkerError.
   */
  async plan(input: BatchStart): Promise<BatchPlan> {
    return planBatch(this.#client, await checked(this.#client, input));
  }

  /**
   * Starts a batch. A file without hash is planned first and started with the hash it had then, so that what was
   * changed meanwhile is refused. The same batch again, running or ended, is returned and sends nothing; with `again`
   * an ended one is run anew, and rows that have an order are not paid twice. Throws as `plan` does, and ConflictError.
   */
  async start(input: BatchStart): Promise<BatchHandle> {
    const given = await checked(this.#client, input);
    const { batchId, file } = given;
    if (batchId !== undefined && (file === undefined || file.sha256 !== undefined)) {
      return startBatch(this.#client, { ...given, batchId });
    }
    const { sha256 } = await planBatch(this.#client, given);
    return startBatch(this.#client, {
      ...given,
      batchId: batchId ?? defaultBatchId(sha256),
      ...(file && { file: { ...file, sha256 } }),
    });
  }

  /** The handle of a batch started before; asks nothing yet, so an unknown id shows at its first method. */
  handle(batchId: string, { account = DEFAULT_ACCOUNT }: { account?: string } = {}): BatchHandle {
    return new BatchHandle(this.#client, account, batchId);
  }
}

/** After this long without a worker's first step there is none. */
const FIRST_STEP_WITHIN_MS = 30_000;
/** Events of a workflow that nobody has taken up: started, task scheduled. */
const UNTOUCHED_EVENTS = 2;

/** Lets a worker check the file. Throws FailedError, which names bad rows by their lines, and NoWorkerError. */
export async function planBatch(client: Client, input: BatchInput): Promise<BatchPlan> {
  const account = input.account ?? DEFAULT_ACCOUNT;
  const handle = await callTemporal(client, () =>
    client.workflow.start<BatchWorkflow>(BULK_WITHDRAW_WORKFLOW, {
      workflowId: batchPlanWorkflowId(account, randomUUID()),
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
        // Nobody waits for it any more; without workers such plans would pile up.
        await handle.terminate('no worker took it up in time').catch(() => undefined);
        throw new NoWorkerError(ORDERS_TASK_QUEUE);
      },
    );
  return planned();
}

/** Input of a batch that is ready to start: it has its name. */
export type NamedBatchInput = BatchInput & { batchId: string };

const sourceOf = ({ file, rows }: BatchInput): string => (file ? file.path : `${rows?.length ?? 0} inline rows`);

/** What the Temporal UI shows of a batch; no row. */
const detailsOf = (input: NamedBatchInput): string =>
  detailsTable([
    ['batch', input.batchId],
    ['account', input.account ?? DEFAULT_ACCOUNT],
    ['rows from', sourceOf(input)],
    ['sha256', input.file?.sha256 ?? '–'],
    ['started by', maskName(input.startedBy)],
    ['approval', input.approval ?? 'none'],
    ['compensation', input.compensation ?? 'by the table'],
  ]);

/** How a batch's workflow is started. A closed batch keeps its id, unless `again` was asked for. */
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
    staticDetails: detailsOf(input),
  } satisfies WorkflowStartOptions<BatchWorkflow>;
}

/** Starts a checked batch, or attaches to the run, open or closed, that has its id. Throws ConflictError. */
export async function startBatch(client: Client, input: NamedBatchInput): Promise<BatchHandle> {
  const account = input.account ?? DEFAULT_ACCOUNT;
  const options = batchStartOptions(input);
  const unanswered = `It is not known whether batch ${input.batchId} was started: start the same one again, which is safe`;
  if (await startUnlessTaken<BatchWorkflow>(client, BULK_WITHDRAW_WORKFLOW, options, unanswered)) {
    return new BatchHandle(client, account, input.batchId, false);
  }
  const first = await callTemporal(client, () => readFirstInput<BatchInput>(client, options.workflowId));
  const fields = batchInputDifferences(input, first.input);
  if (first.workflowType !== BULK_WITHDRAW_WORKFLOW) fields.unshift('workflow type');
  if (fields.length > 0) throw new ConflictError('batch', input.batchId, fields);
  return new BatchHandle(client, account, input.batchId, true);
}
