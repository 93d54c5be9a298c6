import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BATCH_FILE_UNUSABLE, BATCH_NOT_APPROVED, BATCH_STOPPED } from '../contract/batch/batch.js';
import { INVALID_INPUT } from '../contract/failures.js';
import {
  BatchFailedError,
  type BatchFailure,
  BatchNotDecidedYetError,
  BatchUnresolvedError,
  UnknownBatchError,
} from './errors.js';
import { fieldsOfFailure } from './failure-details.js';
import {
  type AwaitedWorkflow,
  confirmStarted,
  explained,
  type Meanings,
  type WaitOptions,
  waitWithin,
} from './wait.js';

const BATCH_FAILURES: readonly BatchFailure[] = [INVALID_INPUT, BATCH_NOT_APPROVED, BATCH_FILE_UNUSABLE, BATCH_STOPPED];

/** Which batch a call is about. */
export interface BatchKey extends AwaitedWorkflow {
  account: string;
  batchId: string;
}

/** What the end of a batch's (or, without id, a plan's) workflow without a result means: nothing was sent, or nothing is known. */
export function batchFailureOf(batchId: string | undefined, cause: unknown): BatchFailedError | BatchUnresolvedError {
  const type = cause instanceof ApplicationFailure && BATCH_FAILURES.find((known) => known === cause.type);
  if (type) return new BatchFailedError(batchId, type, cause.message, fieldsOfFailure(cause));
  return new BatchUnresolvedError(batchId ?? 'plan', cause instanceof Error ? cause.message : 'no reason given');
}

const meaningsOf = (client: Client, batch: BatchKey): Meanings => ({
  unknown: () => new UnknownBatchError(batch.batchId, batch.account),
  confirm: () => confirmStarted(client, batch),
  notDecidedYet: () => new BatchNotDecidedYetError(batch.batchId),
  failed: (cause) => batchFailureOf(batch.batchId, cause),
});

/** The library's error for what the SDK threw about a batch. */
export const explainBatch = (client: Client, batch: BatchKey, error: unknown): Promise<unknown> =>
  explained(client, meaningsOf(client, batch), error);

/** Runs a call that waits for a batch and says in the library's errors why it did not get there. */
export const waitForBatch = <T>(
  client: Client,
  batch: BatchKey,
  call: () => Promise<T>,
  options?: WaitOptions,
): Promise<T> => waitWithin(client, meaningsOf(client, batch), call, options);
