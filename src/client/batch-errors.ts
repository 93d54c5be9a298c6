import { type Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BATCH_FILE_UNUSABLE, BATCH_NOT_APPROVED, BATCH_STOPPED } from '../contract/batches.js';
import { INVALID_INPUT } from '../contract/failures.js';
import {
  BatchFailedError,
  type BatchFailure,
  BatchNotDecidedYetError,
  BatchUnresolvedError,
  UnknownBatchError,
} from './errors.js';
import { fieldsOfFailure } from './failure-details.js';
import type { WaitOptions } from './order-errors.js';
import { isTimeOver, translated } from './temporal-calls.js';

const BATCH_FAILURES: readonly BatchFailure[] = [INVALID_INPUT, BATCH_NOT_APPROVED, BATCH_FILE_UNUSABLE, BATCH_STOPPED];

/** Which batch a call is about. */
export interface BatchKey {
  account: string;
  batchId: string;
}

/** What the end of a batch's (or, without id, a plan's) workflow without a result means: nothing was sent, or nothing is known. */
export function batchFailureOf(batchId: string | undefined, cause: unknown): BatchFailedError | BatchUnresolvedError {
  const type = cause instanceof ApplicationFailure && BATCH_FAILURES.find((known) => known === cause.type);
  if (type) return new BatchFailedError(batchId, type, cause.message, fieldsOfFailure(cause));
  return new BatchUnresolvedError(batchId ?? 'plan', cause instanceof Error ? cause.message : 'no reason given');
}

/** The library's error for what the SDK threw. */
export async function explainBatch(client: Client, { account, batchId }: BatchKey, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowNotFoundError) return new UnknownBatchError(batchId, account);
  if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) {
    return batchFailureOf(batchId, error.cause);
  }
  return translated(client, error);
}

/** Runs a call that waits for a batch and says in the library's errors why it did not get there. */
export async function waitForBatch<T>(
  client: Client,
  batch: BatchKey,
  call: () => Promise<T>,
  { timeoutMs }: WaitOptions = {},
): Promise<T> {
  try {
    return timeoutMs === undefined ? await call() : await client.withDeadline(Date.now() + timeoutMs, call);
  } catch (error) {
    const timedOut = timeoutMs !== undefined && isTimeOver(error);
    throw timedOut ? new BatchNotDecidedYetError(batch.batchId) : await explainBatch(client, batch, error);
  }
}
