import type { Client } from '@temporalio/client';
import {
  asFailed,
  BATCH_MESSAGES,
  BATCH_UNRESOLVED,
  type BatchApproval,
  type BatchInput,
  type BatchInstruction,
  type BatchResult,
  type BatchState,
  isProgress,
} from '../../contract/batch/batch.js';
import { MAX_ROW_PAGE } from '../../contract/batch/files.js';
import { batchWorkflowId } from '../../contract/names.js';
import { bounded, type WaitOptions } from '../bounded.js';
import { NotDecidedYetError } from '../errors.js';
import { heartbeatOf, ofActivity, readFirstInput, resultWith } from '../history.js';
import { allItems } from '../pages.js';
import { type Parked, RemoteRun, type UntilParked } from '../remote-run.js';
import type { SignOptions } from '../signing.js';
import { callTemporal, throwNoWorker } from '../temporal-calls.js';
import { readReport } from './batch-files.js';
import { type BatchRowEntry, type BatchRowFilter, type BatchRowPage, batchRows } from './batch-rows.js';

export type BatchWorkflow = (input: BatchInput) => Promise<BatchResult>;

/** Activity that sends a batch's rows. It heartbeats its progress about every second. */
const SENDING_ACTIVITY = 'sendBatchRows';

/** Temporal's statuses of a batch that did not fail. */
const ENDS_WELL: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETED', 'CONTINUED_AS_NEW']);
const ENDED_OUTSIDE = {
  code: BATCH_UNRESOLVED,
  detail:
    'its workflow was ended from outside, so it is not known which rows have an order: look at its rows, and never pay them in another way',
};

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
      return { ...state, ...(await this.#live(state)) };
    });
  }

  /** Approves the plan with this digest. Throws RefusedError: other digest, own batch, late. */
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
    return until === undefined
      ? end()
      : this.orParked(end, { state: () => this.state(), wantsPerson }, { until, ...wait });
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

  /** Yields those rows to their end. `limit` and `timeoutMs` are those of one page. */
  allRows(filter: BatchRowFilter & WaitOptions = {}): AsyncGenerator<BatchRowEntry, void> {
    return allItems(async (cursor) => {
      const { rows: items, ...next } = await this.rows({ limit: MAX_ROW_PAGE, ...filter, cursor });
      return { items, ...next };
    }, filter.cursor);
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

  /** Returns a failure from outside, and the progress by a heartbeat, newer than the workflow's. */
  async #live(state: BatchState): Promise<Partial<BatchState>> {
    const { client } = this;
    const { raw, status } = await callTemporal(client, () => this.run.describe());
    if (!state.failure && !ENDS_WELL.has(status.name)) return { ...asFailed(state), failure: ENDED_OUTSIDE };
    const sending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === SENDING_ACTIVITY);
    const context = ofActivity(client, this.workflowId, sending?.activityId);
    const told = await heartbeatOf(client, sending?.heartbeatDetails, context);
    return isProgress(told) ? { progress: told } : {};
  }
}
