import { describeFieldErrors, type FieldError, statusText } from '../contract/failures.js';

/**
 * Base class; one subclass per reaction. Errors contain no key, signature, wallet, body, URL or
 * `cause`, because loggers print whole errors.
 */
export abstract class PaymentServiceError extends Error {
  /** Stable code for machines. */
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true });
  }
}

/** The request is invalid, and nothing was sent. `errors` names every bad field. */
export class InvalidRequestError extends PaymentServiceError {
  override readonly code = 'invalid_request';

  constructor(readonly errors: readonly FieldError[]) {
    super(`invalid request: ${describeFieldErrors(errors)}`);
  }
}

/** No byte of the request was sent. `reason` is a system error code or our own word. */
export class NotSentError extends PaymentServiceError {
  override readonly code = 'not_sent';

  constructor(readonly reason: string) {
    super(`request was not sent: ${reason}`);
  }
}

/**
 * The request was sent and may be executed, but no usable answer came: timeout, reset, too large.
 */
export class NoAnswerError extends PaymentServiceError {
  override readonly code = 'no_answer';

  constructor(readonly reason: string) {
    super(`no answer from the payment service: ${reason}`);
  }
}

/** HTTP 400. The body is undocumented: `excerpt` shows it to people, masked. */
export class RejectedError extends PaymentServiceError {
  override readonly code = 'rejected';
  readonly status = 400;

  constructor(readonly excerpt?: string) {
    super(`payment service rejected the request (${statusText(400, excerpt)})`);
  }
}

/** HTTP 429. Ask again after `retryAfterMs` (1 s to 60 s). */
export class RateLimitedError extends PaymentServiceError {
  override readonly code = 'rate_limited';
  readonly status = 429;

  constructor(readonly retryAfterMs: number) {
    super(`payment service asks to slow down (HTTP 429), next try in ${retryAfterMs} ms`);
  }
}

/** Any status but 200, 400 and 429, also redirects. The outcome of a create is unknown. */
export class UnexpectedStatusError extends PaymentServiceError {
  override readonly code = 'unexpected_status';

  constructor(
    readonly status: number,
    readonly excerpt?: string,
  ) {
    const hint = status === 401 || status === 403 ? ': check key and signer' : '';
    super(`payment service answered with ${statusText(status, excerpt)}${hint}`);
  }
}

/** Returns true if the service refuses the account's key. */
export const refusesKey = (error: unknown): error is UnexpectedStatusError =>
  error instanceof UnexpectedStatusError && (error.status === 401 || error.status === 403);

/** HTTP 200 with an undocumented body. `problems` names paths, never values. */
export class MalformedResponseError extends PaymentServiceError {
  override readonly code = 'malformed_response';

  constructor(readonly problems: readonly FieldError[]) {
    super(`payment service answered something else than documented: ${describeFieldErrors(problems)}`);
  }
}

/** HTTP 200 with too many values to read. A smaller page may be readable. */
export class TooManyValuesError extends MalformedResponseError {
  constructor(most: number) {
    super([{ field: 'body', reason: `more than ${most} values` }]);
  }
}

const RETRY_AFTER_DEFAULT_MS = 5_000;
const RETRY_AFTER_MIN_MS = 1_000;
const RETRY_AFTER_MAX_MS = 60_000;

/** Reads seconds only: a date would depend on another clock. */
function retryAfterMs(header: string | string[] | undefined): number {
  const value = String(header).trim();
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1_000 : RETRY_AFTER_DEFAULT_MS;
  return Math.min(Math.max(waitMs, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
}

/** Returns the error of an HTTP status; undefined for 200, whose body decides. */
export function errorFromResponse(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  excerpt?: string,
): RejectedError | RateLimitedError | UnexpectedStatusError | undefined {
  if (status === 200) return undefined;
  if (status === 400) return new RejectedError(excerpt);
  if (status === 429) return new RateLimitedError(retryAfterMs(headers['retry-after']));
  return new UnexpectedStatusError(status, excerpt);
}
