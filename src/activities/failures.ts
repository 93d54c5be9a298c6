import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { z } from 'zod';
import { BatchFileError } from '../batch-files/read-file.js';
import { NOT_WRITTEN } from '../contract/batch/activities.js';
import {
  describeFieldErrors,
  type FieldError,
  INVALID_INPUT,
  KEY_REFUSED,
  NotWrittenError,
  type OrderFailure,
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
 * Translates errors of the service for activities that only read: all are repeated, after
 * `delayMs` or as the retry policy says. No value of the order and no cause goes along.
 */
export function retryLater(error: unknown, delayMs?: number): unknown {
  if (!(error instanceof PaymentServiceError)) return error;
  return ApplicationFailure.create({
    type: error.name,
    message: error.message,
    nextRetryDelay: error instanceof RateLimitedError ? error.retryAfterMs : delayMs,
  });
}

/** Workflows of an account that one worker tells of a refused key within a minute; each of them costs history. */
const MOST_PER_MINUTE = 10;

/** Workflows that are remembered. */
const MOST_KNOWN = 1_000;

/** Workflows of an account that this worker told that the service refuses the key. Their alarm tells the others, after 15 min. */
export class KeyRefusals {
  readonly #toldAtMs = new Map<string, number>();

  /** Returns true, and counts it, if a run may be told, once; `nowMs` of a clock that only runs forward. */
  mayTell(runId: string, nowMs: number): boolean {
    const lately = [...this.#toldAtMs.values()].filter((atMs) => nowMs < atMs + 60_000);
    if (this.#toldAtMs.has(runId) || lately.length >= MOST_PER_MINUTE) return false;
    this.#toldAtMs.set(runId, nowMs);
    const [oldest = ''] = this.#toldAtMs.keys();
    if (this.#toldAtMs.size > MOST_KNOWN) this.#toldAtMs.delete(oldest);
    return true;
  }
}

/** Like `retryLater`, but ends the activity with KEY_REFUSED if its workflow may be told. */
export function retryOrTell(error: unknown, account: { keyRefusals?: KeyRefusals }, delayMs?: number): unknown {
  if (!refusesKey(error)) return retryLater(error, delayMs);
  account.keyRefusals ??= new KeyRefusals();
  const isTold = account.keyRefusals.mayTell(activityInfo().workflowExecution?.runId ?? '', performance.now());
  return isTold ? ApplicationFailure.nonRetryable(error.message, KEY_REFUSED) : retryLater(error, delayMs);
}

/** What went wrong, in words for people: the HTTP status, with what a 400 or 404 says, or the error's class. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error instanceof ApplicationFailure) return error.message;
  if (error instanceof RejectedError || error instanceof UnexpectedStatusError) {
    return statusText(error.status, error.excerpt);
  }
  return 'status' in error ? `HTTP ${String(error.status)}` : error.name;
}

/** An answer that cannot be right (another order, a filter that was ignored): no reading, ask again, as `retryLater`. */
export const noReading = (reason: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({ type: 'NoReading', message: reason, nextRetryDelay });

/** The server waits `delayMs` and repeats the activity without history; benign, as waiting is not an error. */
export const comeBackIn = (delayMs: number, message: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'StillOpen',
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: Math.max(1, Math.round(delayMs)),
  });

const badInput = (type: OrderFailure | typeof INVALID_INPUT, errors: readonly FieldError[]): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`${describeFieldErrors(errors)}. Nothing was sent`, type, errors);

/** Bad input of an order: ends the activity and its workflow. Nothing was sent. */
export const invalidOrder = (errors: readonly FieldError[]): ApplicationFailure => badInput('InvalidOrder', errors);

/** Bad input of a workflow that is not an order. */
export const invalidInput = (errors: readonly FieldError[]): ApplicationFailure => badInput(INVALID_INPUT, errors);

/** An input as a schema admits it, null taken for absent. Throws InvalidInput with every bad field. */
export function validInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(withoutNulls(input));
  if (!parsed.success) throw invalidInput(fieldErrors(parsed.error));
  return parsed.data;
}

/** Translates errors of a batch's rows: only a bad file is final. `tells`: a person is told first. */
export function batchFailure(error: unknown, tells = false): unknown {
  if (error instanceof NotWrittenError) {
    return ApplicationFailure.create({ type: NOT_WRITTEN, message: error.message, nonRetryable: tells });
  }
  if (!(error instanceof BatchFileError)) return error;
  const { failureType: type, message, field, problem: reason } = error;
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [[{ field, reason }]] });
}
