import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchInput,
  type BatchInstruction,
  type BatchPlan,
  type BatchProgress,
  type BatchResult,
  type BatchState,
  isProgress,
} from '../contract/batch/batch.js';
import { batchInputDifferences } from '../contract/differences/starts.js';
import {
  BULK_WITHDRAW_WORKFLOW,
  batchPlanWorkflowId,
  batchWorkflowId,
  DEFAULT_ACCOUNT,
  defaultBatchId,
  ORDERS_TASK_QUEUE,
  searchAttribute,
} from '../contract/names.js';
import { type CheckOptions, checkBatchInput } from './checked-input.js';
import { ConflictError, NoWorkerError } from './errors.js';
import { heartbeatOf, ofActivity, readFirstInput, resultWith } from './history.js';
import { RemoteRun, type WaitOptions, waitWithin } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { INTERACTIVE_PRIORITY } from './start-options.js';
import { callTemporal, startUnlessTaken } from './temporal-calls.js';

/** The `bulkWithdraw` workflow as clients see it. */
export type BatchWorkflow = (input: BatchInput) => Promise<BatchResult>;

/** The activity that sends a batch's rows and leaves its progress with the server about every second. */
const SENDING_ACTIVITY = 'sendBatchRows';

/** One batch. Every method may throw TemporalUnreachableError and, when there is no such batch, UnknownIdError. */
export class BatchHandle extends RemoteRun<BatchWorkflow> {
  /** Made by Batches; `attached` is true when `start` found the batch already started. */
  constructor(
    client: Client,
    account: string,
    readonly batchId: string,
    attached?: boolean,
  ) {
    super(client, { subject: 'batch', id: batchId, account, workflowId: batchWorkflowId(account, batchId), attached });
  }

  /** Where the batch stands to the second, also after its end; throws NoWorkerError when no worker answers in 15 s. */
  async state(): Promise<BatchState> {
    const state = await this.ask<BatchState>(BATCH_MESSAGES.state);
    const progress = await this.#liveProgress();
    return progress ? { ...state, progress } : state;
  }

  /** Approves the plan with this digest. Throws RefusedError: other digest, own batch, too late. */
  async approve(approval: BatchApproval, { signer }: SignOptions = {}): Promise<void> {
    await this.tell(BATCH_MESSAGES.approve, await this.chosen('approve', approval, { signer }));
  }

  /** Starts no more orders until `resume`. Throws RefusedError when it has ended. */
  pause(instruction: BatchInstruction): Promise<void> {
    return this.tell(BATCH_MESSAGES.pause, instruction);
  }

  /** Sends on after the pause at `pausedAt`, by default the present one. Throws RefusedError. */
  async resume(instruction: BatchInstruction, { signer }: SignOptions = {}): Promise<void> {
    // Before the pause is read: of the two, the run must not be the newer one.
    const { runId } = await this.signedRun(instruction?.runId ?? undefined);
    const pausedAt = instruction?.pausedAt ?? (await this.state()).paused?.at;
    const named = instruction?.signature ? instruction : { ...instruction, runId, pausedAt };
    await this.tell(BATCH_MESSAGES.resume, await this.chosen('resume', named, { signer }));
  }

  /** Starts no more orders at all; those started are followed to their end. Throws RefusedError. */
  stop(instruction: BatchInstruction): Promise<void> {
    return this.tell(BATCH_MESSAGES.stop, instruction);
  }

  /**
   * Waits until every row is final, parked or will not be sent. Throws FailedError (nothing was sent),
   * UnresolvedError (terminated) and NotDecidedYetError after `timeoutMs`.
   */
  override async result(options?: WaitOptions): Promise<BatchResult> {
    return resultWith('outcomes', await super.result(options));
  }

  /** The progress as the running activity last told it, half a minute ahead of the workflow; undefined without one. */
  async #liveProgress(): Promise<BatchProgress | undefined> {
    const { client } = this;
    const { raw } = await callTemporal(client, () => this.run.describe());
    const sending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === SENDING_ACTIVITY);
    const context = ofActivity(client, this.workflowId, sending?.activityId);
    const told = await heartbeatOf(client, sending?.heartbeatDetails, context);
    return isProgress(told) ? told : undefined;
  }
}

/** What `plan` and `start` take; `batchId` omitted = the first 16 hex digits of the hash of its rows. */
export type BatchStart = Omit<BatchInput, 'planOnly'>;

/** Withdrawals by the file. Every method may throw TemporalUnreachableError. */
export class Batches {
  readonly #client: Client;

  /** Made by PaymentOrders. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Checks the whole file and returns what it would do; starts no order.
   * Throws InvalidInputError, FailedError (bad rows by their lines, no such file) and NoWorkerError.
   */
  async plan(input: BatchStart, options?: CheckOptions): Promise<BatchPlan> {
    return planBatch(this.#client, checkBatchInput(input, options));
  }

  /**
   * Starts a batch of exactly these rows, or returns the same one, running or ended; with `again` an ended one runs again,
   * and rows that have an order are not paid twice. Throws as `plan` does, and ConflictError.
   */
  async start(input: BatchStart, options?: CheckOptions): Promise<BatchHandle> {
    const given = checkBatchInput(input, options);
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
