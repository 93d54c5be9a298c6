import { randomUUID } from 'node:crypto';
import { type Client, type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import {
  APPROVE_UPDATE,
  BATCH_STATE_QUERY,
  type BatchApproval,
  type BatchInstruction,
  type BatchResult,
  type BatchState,
  PAUSE_UPDATE,
  RESUME_UPDATE,
  STOP_UPDATE,
} from '../contract/batch/batch.js';
import type { BatchInput } from '../contract/batch/input.js';
import { batchWorkflowId } from '../contract/ids.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { untilTaken } from './aborted-updates.js';
import { askWorkflow } from './ask-workflow.js';
import { explainBatch, waitForBatch } from './batch-errors.js';
import { BatchRefusedError, NoWorkerError } from './errors.js';
import { readLiveProgress } from './live-progress.js';
import { cameTooLate } from './order-errors.js';
import { ANSWER_TIMEOUT_MS, callTemporal, isNobodyAnswering } from './temporal-calls.js';
import type { WaitOptions } from './wait.js';

/** The `bulkWithdraw` workflow as clients see it. */
export type BatchWorkflow = (input: BatchInput) => Promise<BatchResult>;

/** One batch. Every method may throw TemporalUnreachableError and, when there is no such batch, UnknownBatchError. */
export class BatchHandle {
  readonly workflowId: string;
  readonly #client: Client;
  readonly #workflow: WorkflowHandle<BatchWorkflow>;

  /** Made by Batches; `attached` is true when `start` found the batch already started. */
  constructor(
    client: Client,
    readonly account: string,
    readonly batchId: string,
    readonly attached?: boolean,
  ) {
    this.#client = client;
    this.workflowId = batchWorkflowId(account, batchId);
    this.#workflow = client.workflow.getHandle<BatchWorkflow>(this.workflowId);
  }

  /** Where the batch stands, up to the last second, also after its end. A worker answers: throws NoWorkerError within 15 s when none does. */
  state(): Promise<BatchState> {
    return this.#answered(async () => {
      const state = await askWorkflow<BatchState>(this.#client, this.#workflow, BATCH_STATE_QUERY);
      const progress = await readLiveProgress(this.#client, this.workflowId);
      return progress ? { ...state, progress } : state;
    });
  }

  /** Approves the plan with this digest. Throws BatchRefusedError: another digest, the starter's own name, too late. */
  approve(approval: BatchApproval): Promise<void> {
    return this.#tell(APPROVE_UPDATE, approval);
  }

  /** Starts no more orders until `resume`. Throws BatchRefusedError when it has ended. */
  pause(instruction: BatchInstruction): Promise<void> {
    return this.#tell(PAUSE_UPDATE, instruction);
  }

  /** Goes on sending. Throws BatchRefusedError when it is not paused. */
  resume(instruction: BatchInstruction): Promise<void> {
    return this.#tell(RESUME_UPDATE, instruction);
  }

  /** Starts no more orders at all; those started are followed to their end. Throws BatchRefusedError. */
  stop(instruction: BatchInstruction): Promise<void> {
    return this.#tell(STOP_UPDATE, instruction);
  }

  /**
   * The end of the batch: every row is final, parked or was never sent. Throws BatchFailedError (nothing was sent),
   * BatchUnresolvedError (terminated) and BatchNotDecidedYetError after `timeoutMs`.
   */
  result(options?: WaitOptions): Promise<BatchResult> {
    return waitForBatch(this.#client, this, () => this.#workflow.result(), options);
  }

  /** True while the batch's workflow is open; needs no worker. */
  async isOpen(): Promise<boolean> {
    try {
      const { status } = await callTemporal(this.#client, () => this.#workflow.describe());
      return status.name === 'RUNNING';
    } catch (error) {
      throw await explainBatch(this.#client, this, error);
    }
  }

  #tell(update: string, argument: BatchApproval | BatchInstruction): Promise<void> {
    const updateId = randomUUID();
    return this.#answered(async () => {
      try {
        await untilTaken(() => this.#workflow.executeUpdate<unknown, [object]>(update, { args: [argument], updateId }));
      } catch (error) {
        if (cameTooLate(error)) return this.#refuse();
        if (!(error instanceof WorkflowUpdateFailedError)) throw error;
        throw new BatchRefusedError(this.batchId, error.cause?.message ?? 'no reason given');
      }
    }, update);
  }

  async #answered<T>(call: () => Promise<T>, request?: string): Promise<T> {
    try {
      return await this.#client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, call);
    } catch (error) {
      if (error instanceof BatchRefusedError) throw error;
      if (!isNobodyAnswering(error)) throw await explainBatch(this.#client, this, error);
      // A silent Temporal looks the same from here; this call tells.
      await this.isOpen();
      throw new NoWorkerError(ORDERS_TASK_QUEUE, request);
    }
  }

  /** Temporal answers "not found" for ended batches too; only the others are unknown. */
  async #refuse(): Promise<never> {
    await this.isOpen();
    throw new BatchRefusedError(this.batchId, 'it has ended');
  }
}
