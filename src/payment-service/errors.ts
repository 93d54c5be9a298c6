import { describeFieldErrors, type FieldError, statusText } from '../contract/failures.js';

/**
 * One class per reaction. None carries a key, signature, wallet, body (but a masked excerpt), URL
 * or `cause`: the HTTP library's error holds headers, and loggers print whole errors.
 */
export abstract class PaymentServiceError extends Error {
  /** Stable and machine-readable. */
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true });
  }
}

/** The request is wrong in itself: nothing was sent. `errors` names every bad field. */
export class InvalidRequestError extends PaymentServiceError {
  override readonly code = 'invalid_request';

  constructor(readonly errors: readonly FieldError[]) {
    super(`invalid request: ${describeFieldErrors(errors)}`);
  }
}

/** Provably not sent: no byte of the request left this process. `reason` is a system error code or a word of ours. */
export class NotSentError extends PaymentServiceError {
  override readonly code = 'not_sent';

  constructor(readonly reason: string) {
    super(`request was not sent: ${reason}`);
  }
}

/** Sent, perhaps executed, and no usable answer: timeout, reset, too large. The outcome is unknown. */
export class NoAnswerError extends PaymentServiceError {
  override readonly code = 'no_answer';

  constructor(readonly reason: string) {
    super(`no answer from the payment service: ${reason}`);
  }
}

/** HTTP 400. The shape of its body is not documented: `excerpt` is what it says, masked, for people to read. */
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

/** Any HTTP status besides 200, 400 and 429, redirects too: a create's outcome is then unknown. `excerpt`: of a 404. */
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

/** HTTP 200 whose body is not the documented one. `problems` names paths, never values. */
export class MalformedResponseError extends PaymentServiceError {
  override readonly code = 'malformed_response';

  constructor(readonly problems: readonly FieldError[]) {
    super(`payment service answered something else than documented: ${describeFieldErrors(problems)}`);
  }
}

/** HTTP 200 with more values than are read: a smaller page may be readable. */
export class TooManyValuesError extends MalformedResponseError {
  constructor(most: number) {
    super([{ field: 'body', reason: `more than ${most} values` }]);
  }
}

const RETRY_AFTER_DEFAULT_MS = 5_000;
const RETRY_AFTER_MIN_MS = 1_000;
const RETRY_AFTER_MAX_MS = 60_000;

/** Seconds alone are read: a date would be compared with another clock. */
function retryAfterMs(header: string | string[] | undefined): number {
  const value = String(header).trim();
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1_000 : RETRY_AFTER_DEFAULT_MS;
  return Math.min(Math.max(waitMs, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
}

/** What an HTTP status means; undefined for 200, whose body decides. Header names are lowercase; `excerpt` is masked. */
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
