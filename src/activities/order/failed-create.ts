import type { CreateVerdict } from '../../contract/order/activities.js';
import { NotSentError, RateLimitedError, RejectedError, UnexpectedStatusError } from '../../payment-service/errors.js';
import type { Account } from '../deps.js';
import { reasonOf } from '../failures.js';
import { AttemptTooOldError } from './attempt-deadline.js';

/**
 * What is known of a create that brought nothing. 'notSent': no byte of it left. 'notExecuted': the service guarantees, in
 * writing to the operator, that it executes nothing that it answers so. 'rejected': a 400, with what was said, masked.
 * 'uncertain': it may have been executed, or be yet; `retryAfterMs`: how long the service asked to be left alone.
 */
type FailedCreate =
  | { kind: 'notSent' }
  | { kind: 'notExecuted' }
  | { kind: 'rejected'; excerpt?: string }
  | { kind: 'uncertain'; reason: string; retryAfterMs?: number };

/**
 * THE place that says whether a create that failed may have been executed. A status proves nothing by its name: behind 429
 * as behind 503 a proxy may have let the request through. Only the operator's list (PAYMENT_NOT_EXECUTED_STATUSES) counts.
 */
export function meaningOf(error: unknown, { notExecutedStatuses = [] }: Account): FailedCreate {
  if (error instanceof NotSentError || error instanceof AttemptTooOldError) return { kind: 'notSent' };
  // Believed only after absence was read, by the workflow: it may also mean that the id exists already.
  if (error instanceof RejectedError) {
    return { kind: 'rejected', ...(error.excerpt !== undefined && { excerpt: error.excerpt }) };
  }
  if (hasStatus(error) && notExecutedStatuses.includes(error.status)) return { kind: 'notExecuted' };
  // 429 and 5xx, time-out, reset, redirect, 401, garbage: known or not, it may have reached the service.
  return { kind: 'uncertain', reason: `the create got no clear answer (${reasonOf(error)})`, ...retryAfterOf(error) };
}

/** The verdict of an attempt that ended before it could have sent; `what` failed with `error`. */
export const notSentBecause = (what: string, error: unknown): CreateVerdict =>
  error instanceof RateLimitedError
    ? { kind: 'rateLimited', retryAfterMs: error.retryAfterMs }
    : { kind: 'notSent', reason: `${what} (${reasonOf(error)})` };

const hasStatus = (error: unknown): error is RateLimitedError | UnexpectedStatusError =>
  error instanceof RateLimitedError || error instanceof UnexpectedStatusError;

/** How long the service asked to wait, in milliseconds, as a field to spread; {} where it did not. */
export const retryAfterOf = (error: unknown): { retryAfterMs?: number } =>
  error instanceof RateLimitedError ? { retryAfterMs: error.retryAfterMs } : {};
