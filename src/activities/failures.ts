import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { z } from 'zod';
import { BatchFileError } from '../batch-files/read-file.js';
import { NOT_WRITTEN } from '../contract/batch/activities.js';
import {
  badInput,
  type FieldError,
  INVALID_INPUT,
  KEY_REFUSED,
  NotWrittenError,
  statusText,
} from '../contract/failures.js';
import { withoutNulls } from '../contract/without-nulls.js';
import {
  PaymentServiceError,
  RateLimitedError,
  RejectedError,
  refusesKey,
  UnexpectedStatusError,
} from '../payment-service/errors.js';
import { fieldErrors } from '../validation/field-errors.js';

/**
 * Translates an error of a read: Temporal repeats it, after `delayMs` or by the retry policy. Omits
 * the order's values and the cause.
 */
export function retryLater(error: unknown, delayMs?: number): unknown {
  if (!(error instanceof PaymentServiceError)) return error;
  return ApplicationFailure.create({
    type: error.name,
    message: error.message,
    nextRetryDelay: error instanceof RateLimitedError ? error.retryAfterMs : delayMs,
  });
}

/** Maximum number of workflows that one worker tells of a refused key within a minute. */
const MOST_PER_MINUTE = 10;

/** Maximum number of workflows to remember. */
const MOST_KNOWN = 1_000;

/**
 * Workflows that this worker has notified of a refused key. Others get their 15-min alarm.
 */
export class KeyRefusals {
  readonly #toldAtMs = new Map<string, number>();

  /** Returns true, once per run, if the run may be notified. `nowMs`: monotonic time. */
  mayTell(runId: string, nowMs: number): boolean {
    const lately = [...this.#toldAtMs.values()].filter((atMs) => nowMs < atMs + 60_000);
    if (this.#toldAtMs.has(runId) || lately.length >= MOST_PER_MINUTE) return false;
    this.#toldAtMs.set(runId, nowMs);
    const [oldest = ''] = this.#toldAtMs.keys();
    if (this.#toldAtMs.size > MOST_KNOWN) this.#toldAtMs.delete(oldest);
    return true;
  }
}

/** Like `retryLater`, but ends the activity with KEY_REFUSED if its run may be notified. */
export function retryOrTell(error: unknown, account: { keyRefusals?: KeyRefusals }, delayMs?: number): unknown {
  if (!refusesKey(error)) return retryLater(error, delayMs);
  account.keyRefusals ??= new KeyRefusals();
  const isTold = account.keyRefusals.mayTell(activityInfo().workflowExecution?.runId ?? '', performance.now());
  return isTold ? ApplicationFailure.nonRetryable(error.message, KEY_REFUSED) : retryLater(error, delayMs);
}

/** Returns an error in words: the HTTP status with an excerpt of a 400 or 404, or the class. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error instanceof ApplicationFailure) return error.message;
  if (error instanceof RejectedError || error instanceof UnexpectedStatusError) {
    return statusText(error.status, error.excerpt);
  }
  return 'status' in error ? `HTTP ${String(error.status)}` : error.name;
}

/**
 * Returns the failure for an implausible answer (another order, an ignored filter), which is
 * repeated.
 */
export const noReading = (reason: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({ type: 'NoReading', message: reason, nextRetryDelay });

/** Returns a benign failure: the server repeats the activity after `delayMs` without history. */
export const comeBackIn = (delayMs: number, message: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'StillOpen',
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: Math.max(1, Math.round(delayMs)),
  });

/** Returns the failure for invalid input of an order. It ends the workflow; nothing was sent. */
export const invalidOrder = (errors: readonly FieldError[]): ApplicationFailure => badInput('InvalidOrder', errors);

/** Returns the failure for invalid input of other workflows. */
export const invalidInput = (errors: readonly FieldError[]): ApplicationFailure => badInput(INVALID_INPUT, errors);

/** Returns the input by a schema, null as absent. Throws InvalidInput with every bad field. */
export function validInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(withoutNulls(input));
  if (!parsed.success) throw invalidInput(fieldErrors(parsed.error));
  return parsed.data;
}

/** Translates errors of a batch's rows: only a bad file is final. `tells`: ask a person first. */
export function batchFailure(error: unknown, tells = false): unknown {
  if (error instanceof NotWrittenError) {
    return ApplicationFailure.create({ type: NOT_WRITTEN, message: error.message, nonRetryable: tells });
  }
  if (!(error instanceof BatchFileError)) return error;
  const { failureType: type, message, field, problem: reason } = error;
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [[{ field, reason }]] });
}
