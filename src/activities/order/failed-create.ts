import { NotSentError, RateLimitedError, RejectedError, UnexpectedStatusError } from '../../payment-service/index.js';
import type { Account } from '../deps.js';
import { AttemptTooOldError } from './attempt-deadline.js';

/**
 * What is known of a create that brought no order. 'notSent': no byte of it left. 'notExecuted': the service guarantees, in
 * writing to the operator, that it executes nothing that it answers so. 'uncertain': it may have been executed, or be yet.
 */
export type FailedCreate = 'notSent' | 'notExecuted' | 'rejected' | 'uncertain';

/**
 * THE place that says whether a create that failed may have been executed. A status proves nothing by its name: behind 429
 * as behind 503 a proxy may have let the request through. Only the operator's list (PAYMENT_NOT_EXECUTED_STATUSES) counts.
 */
export function meaningOf(error: unknown, { notExecutedStatuses = [] }: Account): FailedCreate {
  if (error instanceof NotSentError || error instanceof AttemptTooOldError) return 'notSent';
  // Believed only after absence was read, by the workflow: it may also mean that the id exists already.
  if (error instanceof RejectedError) return 'rejected';
  if (hasStatus(error) && notExecutedStatuses.includes(error.status)) return 'notExecuted';
  return 'uncertain';
}

const hasStatus = (error: unknown): error is RateLimitedError | UnexpectedStatusError =>
  error instanceof RateLimitedError || error instanceof UnexpectedStatusError;

/** How long the service asked to wait, in milliseconds, as a field to spread; {} where it did not. */
export const retryAfterOf = (error: unknown): { retryAfterMs?: number } =>
  error instanceof RateLimitedError ? { retryAfterMs: error.retryAfterMs } : {};

/** What the service said when it refused, as a field to spread; {} where it said nothing that may be shown. */
export const excerptIn = (error: unknown): { excerpt?: string } =>
  error instanceof RejectedError && error.excerpt !== undefined ? { excerpt: error.excerpt } : {};
