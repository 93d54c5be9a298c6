import type { Client } from '@temporalio/client';
import {
  type BatchApproval,
  type BatchInput,
  type BatchInstruction,
  type BatchProgress,
  type BatchResult,
  type BatchState,
  isProgress,
} from '../contract/batch/batch.js';
import { BATCH_MESSAGES } from '../contract/batch/messages.js';
import { batchWorkflowId } from '../contract/names.js';
import { heartbeatOf, ofActivity, resultWith } from './history.js';
import { RemoteRun, type WaitOptions } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { callTemporal } from './temporal-calls.js';

/** The `bulkWithdraw` workflow as clients see it. */
export type BatchWorkflow = (input: BatchInput) => Promise<BatchResult>;

/** The activity that sends a batch's rows and leaves its progress with the server about every second. */
const SENDING_ACTIVITY = 'sendBatchRows';

/** One batch. Every method may throw TemporalUnreachableError and, when there is no such batch, UnknownIdError. */
export class BatchHandle {
  readonly workflowId: string;
  readonly #run: RemoteRun<BatchWorkflow>;

  /** Made by Batches; `attached` is true when `start` found the batch already started. */
  constructor(
    client: Client,
    readonly account: string,
    readonly batchId: string,
    readonly attached?: boolean,
  ) {
    this.workflowId = batchWorkflowId(account, batchId);
    this.#run = new RemoteRun(client, {
      subject: 'batch',
      id: batchId,
      account,
      workflowId: this.workflowId,
      attached,
    });
  }

  /** Where the batch stands to the second, also after its end; throws NoWorkerError when no worker answers in 15 s. */
  async state(): Promise<BatchState> {
    const state = await this.#run.ask<BatchState>(BATCH_MESSAGES.state);
    const progress = await this.#liveProgress();
    return progress ? { ...state, progress } : state;
  }

  /**
   * Approves the plan with this digest; where the account asks for signatures, it wants those of two persons. Throws
   * RefusedError: another digest, the starter's own name, too late.
   */
  async approve(approval: BatchApproval, { signer }: SignOptions = {}): Promise<void> {
    await this.#tell(BATCH_MESSAGES.approve, await this.#run.chosen('approve', approval, { signer }));
  }

  /** Starts no more orders until `resume`. Throws RefusedError when it has ended. */
  pause(instruction: BatchInstruction): Promise<void> {
    return this.#tell(BATCH_MESSAGES.pause, instruction);
  }

  /**
   * Goes on sending after the pause at `pausedAt`, by default the one that holds it now. Throws RefusedError when it is not paused,
   * or was paused anew.
   */
  async resume(instruction: BatchInstruction, { signer }: SignOptions = {}): Promise<void> {
    // Before the pause is read: of the two, the run must not be the newer one.
    const { runId } = await this.#run.signedRun(instruction?.runId ?? undefined);
    const pausedAt = instruction?.pausedAt ?? (await this.state()).paused?.at;
    const named = instruction?.signature ? instruction : { ...instruction, runId, pausedAt };
    await this.#tell(BATCH_MESSAGES.resume, await this.#run.chosen('resume', named, { signer }));
  }

  /** Starts no more orders at all; those started are followed to their end. Throws RefusedError. */
  stop(instruction: BatchInstruction): Promise<void> {
    return this.#tell(BATCH_MESSAGES.stop, instruction);
  }

  /**
   * The end of the batch: every row is final, parked or was never sent. Throws FailedError (nothing was sent),
   * UnresolvedError (terminated) and NotDecidedYetError after `timeoutMs`.
   */
  async result(options?: WaitOptions): Promise<BatchResult> {
    return resultWith('outcomes', await this.#run.result(options));
  }

  /** True while the batch's workflow is open; needs no worker. */
  isOpen(): Promise<boolean> {
    return this.#run.isOpen();
  }

  async #tell(update: string, argument: BatchApproval | BatchInstruction): Promise<void> {
    await this.#run.tell(update, argument, { refused: 'instruction', request: update });
  }

  /** The progress as the running activity last told it, half a minute ahead of the workflow; undefined without one. */
  async #liveProgress(): Promise<BatchProgress | undefined> {
    const { client, handle } = this.#run;
    const { raw } = await callTemporal(client, () => handle.describe());
    const sending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === SENDING_ACTIVITY);
    const context = ofActivity(client, this.workflowId, sending?.activityId);
    const told = await heartbeatOf(client, sending?.heartbeatDetails, context);
    return isProgress(told) ? told : undefined;
  }
}
