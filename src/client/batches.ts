import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchFile,
  type BatchInput,
  type BatchInstruction,
  type BatchPlan,
  type BatchProgress,
  type BatchResult,
  type BatchState,
  isProgress,
} from '../contract/batch/batch.js';
import type { BatchFormat, BatchUpload, UploadState } from '../contract/batch/files.js';
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
import { readReport, upload, uploadPart, withUploadedRows } from './batch-files.js';
import { type BatchRowFilter, type BatchRowPage, batchRows } from './batch-rows.js';
import { bounded, type WaitOptions } from './bounded.js';
import { type CheckOptions, checkBatchInput } from './checked-input.js';
import { ConflictError, FailedError, NotDecidedYetError, NoWorkerError } from './errors.js';
import { heartbeatOf, ofActivity, readFirstInput, resultWith } from './history.js';
import { type Parked, RemoteRun, type UntilParked, waitWithin } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { INTERACTIVE_PRIORITY } from './start-options.js';
import { CHECK_WITHIN, callTemporal, startUnlessTaken, throwNoWorker } from './temporal-calls.js';

export type BatchWorkflow = (input: BatchInput) => Promise<BatchResult>;

/** Activity that sends a batch's rows. It heartbeats its progress about every second. */
const SENDING_ACTIVITY = 'sendBatchRows';

/** Returns true if a batch waits for its approval or is paused. */
export const wantsPerson = ({ phase }: BatchState): boolean => phase === 'awaitingApproval' || phase === 'paused';

/** Handle of one batch. Every method may throw TemporalUnreachableError and UnknownIdError. */
export class BatchHandle extends RemoteRun<BatchWorkflow> {
  /** Called by Batches. `attached` is true if `start` found the batch already started. */
  constructor(
    client: Client,
    account: string,
    readonly batchId: string,
    attached?: boolean,
  ) {
    super(client, { subject: 'batch', id: batchId, account, workflowId: batchWorkflowId(account, batchId), attached });
  }

  /** Returns the state, also after the end. Throws NoWorkerError if no worker answers in 15 s. */
  state(wait: WaitOptions = {}): Promise<BatchState> {
    return this.within(wait, async () => {
      const state = await this.ask<BatchState>(BATCH_MESSAGES.state, wait);
      const progress = await this.#liveProgress();
      return progress ? { ...state, progress } : state;
    });
  }

  /** Approves the plan with this digest. Throws RefusedError: other digest, own batch, too late. */
  approve(approval: BatchApproval, { signer, ...wait }: SignOptions & WaitOptions = {}): Promise<void> {
    const approve = async () =>
      this.tell<void>(BATCH_MESSAGES.approve, await this.chosen('approve', approval, { signer }), wait);
    return this.within(wait, approve, 'approve');
  }

  /** Stops starting orders until `resume`. Throws RefusedError if the batch has ended. */
  pause(instruction: BatchInstruction, wait?: WaitOptions): Promise<void> {
    return this.tell(BATCH_MESSAGES.pause, instruction, wait);
  }

  /** Resumes after the pause at `pausedAt` (default: the current pause). Throws RefusedError. */
  resume(instruction: BatchInstruction, { signer, ...wait }: SignOptions & WaitOptions = {}): Promise<void> {
    const resume = async () => {
      // Read before the pause, so that the run is never newer than the pause.
      const { runId } = await this.signedRun(instruction?.runId ?? undefined);
      const pausedAt = instruction?.pausedAt ?? (await this.state(wait)).paused?.at;
      const named = instruction?.signature ? instruction : { ...instruction, runId, pausedAt };
      return this.tell<void>(BATCH_MESSAGES.resume, await this.chosen('resume', named, { signer }), wait);
    };
    return this.within(wait, resume, 'resume');
  }

  /** Stops starting orders for good; started ones run to their end. Throws RefusedError. */
  stop(instruction: BatchInstruction, wait?: WaitOptions): Promise<void> {
    return this.tell(BATCH_MESSAGES.stop, instruction, wait);
  }

  /**
   * Waits until every row is final, parked or will not be sent. Throws FailedError (nothing was sent),
   * UnresolvedError (terminated) and NotDecidedYetError after `timeoutMs`.
   */
  override result(options: UntilParked): Promise<BatchResult | Parked<BatchState>>;
  override result(options?: WaitOptions): Promise<BatchResult>;
  override result({ until, ...wait }: Partial<UntilParked> = {}): Promise<BatchResult | Parked<BatchState>> {
    const end = async () => resultWith('outcomes', await super.result(wait));
    return until ? this.orParked(end, { state: () => this.state(), wantsPerson }, wait) : end();
  }

  /**
   * Returns one page of its rows in their order, also those not started, as a worker reads them.
   * Throws InvalidInputError, and FailedError if the file is gone.
   */
  async rows({ timeoutMs, signal, ...filter }: BatchRowFilter & WaitOptions = {}): Promise<BatchRowPage> {
    const { client, account, workflowId } = this;
    const read = async () => {
      // Throws UnknownIdError.
      await this.isOpen();
      const { input } = await callTemporal(client, () => readFirstInput<BatchInput>(client, workflowId));
      // A start that pinned no file reads the one of its plan.
      const unpinned = input.file && !input.file.sha256 ? input.file : undefined;
      const sha256 = unpinned && (await this.state()).plan?.sha256;
      return batchRows(client, account, unpinned ? { file: { ...unpinned, sha256 } } : input, filter);
    };
    return bounded(client, { timeoutMs, signal }, read, () => throwNoWorker(client));
  }

  /**
   * Returns the report of an ended batch (CSV, wallets masked), or with `rejected` its rows without
   * an order (as sent, with wallets); undefined if there is none. Throws as `result` does,
   * NotDecidedYetError and FailedError (the file is gone).
   */
  async report({ rejected = false, ...wait }: { rejected?: boolean } & WaitOptions = {}): Promise<Buffer | undefined> {
    const read = async () => {
      if (await this.isOpen()) throw new NotDecidedYetError('batch', this.batchId);
      const result = await this.result();
      const file = rejected ? result.rejected : result.report;
      return file && readReport(this.client, this.account, file);
    };
    return bounded(this.client, wait, read, () => throwNoWorker(this.client));
  }

  /** Returns the progress by the activity's heartbeat, newer than the workflow's. */
  async #liveProgress(): Promise<BatchProgress | undefined> {
    const { client } = this;
    const { raw } = await callTemporal(client, () => this.run.describe());
    const sending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === SENDING_ACTIVITY);
    const context = ofActivity(client, this.workflowId, sending?.activityId);
    const told = await heartbeatOf(client, sending?.heartbeatDetails, context);
    return isProgress(told) ? told : undefined;
  }
}

/** Input of `plan` and `start`. Default `batchId`: the first 16 hex digits of the rows' hash. */
export type BatchStart = Omit<BatchInput, 'planOnly'>;

/** Format of an upload, and its account. */
export interface UploadOptions {
  account?: string;
  format: BatchFormat;
}

/** Bulk withdrawals. Every method may throw TemporalUnreachableError. */
export class Batches {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Checks all rows and returns their plan; more than 200 rows or 50,000 bytes are uploaded as a
   * file. Throws InvalidInputError, FailedError (bad rows by line, missing file) and NoWorkerError.
   */
  plan(input: BatchStart, options: CheckOptions & WaitOptions = {}): Promise<BatchPlan> {
    return this.#within(options, async () => planBatch(this.#client, await this.#accepted(input, options)));
  }

  /**
   * Starts a batch of exactly these rows, or returns the existing one. With `again`, an ended batch
   * runs again; rows that have an order are not paid twice. After an abort or a time-out, start the
   * same batch again.
   */
  start(input: BatchStart, options: CheckOptions & WaitOptions = {}): Promise<BatchHandle> {
    return this.#within(options, async () => {
      const given = await this.#accepted(input, options);
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
    });
  }

  /**
   * Uploads a CSV or NDJSON file (at most 32 MiB) to BATCH_DIR of the workers, and returns it for
   * `plan` and `start`. Throws InvalidInputError and NoWorkerError.
   */
  upload(
    bytes: Uint8Array,
    { account = DEFAULT_ACCOUNT, format, ...wait }: UploadOptions & WaitOptions,
  ): Promise<BatchFile> {
    return this.#within(wait, () => upload(this.#client, account, Buffer.from(bytes), format));
  }

  /**
   * Stores one part (at most 1 MiB, counting from 1) and returns the missing ones, or the file.
   * Throws InvalidInputError, also if all parts together have another hash.
   */
  uploadPart(about: BatchUpload, part: number, bytes: Uint8Array, wait: WaitOptions = {}): Promise<UploadState> {
    return this.#within(wait, () => uploadPart(this.#client, about, part, bytes));
  }

  #within<T>(wait: WaitOptions, call: () => Promise<T>): Promise<T> {
    return bounded(this.#client, wait, call, () => throwNoWorker(this.#client));
  }

  /** Returns the checked input, with its rows in a file if they are many. */
  async #accepted(input: BatchStart, options: CheckOptions): Promise<BatchInput> {
    return withUploadedRows(this.#client, checkBatchInput(input, options), options);
  }

  /** Returns the handle of a batch. Sends no request: an unknown id shows at the first call. */
  handle(batchId: string, { account = DEFAULT_ACCOUNT }: { account?: string } = {}): BatchHandle {
    return new BatchHandle(this.#client, account, batchId);
  }
}

/** If no worker takes a first step within this time, no worker is running. */
const FIRST_STEP_WITHIN_MS = 30_000;
/** History length of a workflow that no worker has taken: started, task scheduled. */
export const UNTOUCHED_EVENTS = 2;

/** Has a worker check the file. Throws FailedError (bad rows by line) and NoWorkerError. */
export const planBatch = (client: Client, input: BatchInput, wait: WaitOptions = {}): Promise<BatchPlan> =>
  bounded(
    client,
    wait,
    () => planByWorker(client, input),
    () => throwNoWorker(client),
  );

async function planByWorker(client: Client, input: BatchInput): Promise<BatchPlan> {
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
        throw new NoWorkerError(ORDERS_TASK_QUEUE);
      },
    );
  try {
    return await planned();
  } catch (error) {
    // No caller waits for this plan. Without a worker, such plans would pile up.
    const end = () => handle.terminate('no caller waits for it').catch(() => undefined);
    if (!(error instanceof FailedError)) void client.withDeadline(Date.now() + CHECK_WITHIN.timeoutMs, end);
    throw error;
  }
}

/** Batch input with its id. */
export type NamedBatchInput = BatchInput & { batchId: string };

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

/** Starts a checked batch, or attaches to the run with its id. Throws ConflictError. */
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
