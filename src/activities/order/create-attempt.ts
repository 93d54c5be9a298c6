import { activityInfo, getClient } from '@temporalio/activity';
import type { ActivitySerializationContext } from '@temporalio/common';
import { AuditNotWrittenError } from '../../audit/audit-record.js';
import { callbackUrl } from '../../contract/callback-url.js';
import type { CreateOrderInput, CreateVerdict } from '../../contract/order/activities.js';
import type { OrderInput } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { NotSentError, RateLimitedError, RejectedError, UnexpectedStatusError } from '../../payment-service/errors.js';
import type { ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import type { InForce } from '../protections.js';

/**
 * Asks the server, and waits for its answer, whether this attempt is still the one that counts; `details` are kept there.
 * Throws when the attempt was given up (timed out, its run reset or closed), cancelled or paused. A worker that was stopped
 * cannot know how long: a task may have been handed to it long before our code began to run.
 */
export async function confirmAttempt(details: unknown): Promise<void> {
  const { taskToken, activityId, workflowExecution, workflowNamespace: namespace = '' } = activityInfo();
  // A task token says nothing of whose it is, and what is bound to nobody is refused where payloads must be bound.
  const serializationContext: ActivitySerializationContext = {
    type: 'activity',
    namespace,
    activityId,
    workflowId: workflowExecution?.workflowId,
    isLocal: false,
  };
  await getClient().activity.heartbeat(taskToken, details, { serializationContext });
}

/** The attempt is too old, or no longer the one that counts: nothing was sent. */
export class AttemptTooOldError extends Error {}

/** The order became too late to be sent. `verdict` is what its attempt answers. */
export class TooLateError extends Error {
  constructor(readonly verdict: CreateVerdict) {
    super();
  }
}

/** The attempt is a copy: it sent nothing, but what it was copied from may have. */
class CopiedAttemptError extends Error {
  override name = 'CopiedAttemptError';
}

/**
 * The last step before a create is written; `details` reach the workflow even if this worker dies. Throws AttemptTooOldError,
 * TooLateError and CopiedAttemptError.
 */
export async function confirmSend(
  { confirmAttempt, isCopied }: ActivityDeps,
  deadline: AttemptDeadline,
  details: object,
  times?: SendTimes,
): Promise<void> {
  const tooOld = (): never => {
    throw new AttemptTooOldError();
  };
  if (await isCopied?.().catch(tooOld)) throw new CopiedAttemptError();
  await confirmAttempt(details).catch(tooOld);
  const late = await times?.tooLate();
  if (late) throw new TooLateError(late);
  // Last of all, because the waits for the rate limit and the server lie in between.
  if (!deadline.allowsSend()) throw new AttemptTooOldError();
}

/** An attempt may use this much of its 60 s: what is left covers the report to the server. */
const ATTEMPT_MS = 50_000;

/** A send needs this much: HTTP total 20 s and a margin. */
const NEEDED_FOR_SEND_MS = 25_000;

/**
 * The age of one create attempt. A worker that was stopped and goes on later must not send any more: by then the server
 * has given the attempt up and the workflow may be proving that the order is absent. Two clocks, because one stands
 * still while a machine sleeps and the other may be set.
 */
export class AttemptDeadline {
  readonly #startedAt = performance.now();
  readonly #startedAtWall = Date.now();

  /** Returns true while there is time to send and to hear the answer. */
  allowsSend(): boolean {
    return this.leftToWaitMs() >= 0;
  }

  /** How long the attempt may wait yet before it sends; negative once it is too late. */
  leftToWaitMs(): number {
    return ATTEMPT_MS - NEEDED_FOR_SEND_MS - this.elapsedMs();
  }

  /** Returns the age of the attempt. */
  elapsedMs(): number {
    return Math.max(performance.now() - this.#startedAt, Date.now() - this.#startedAtWall);
  }
}

/** Returns when the server handed out this attempt, by the server's clock. Throws if the server gave the attempt up. */
async function attemptStartedMs(): Promise<number> {
  const { activityId, workflowExecution: execution, workflowNamespace: namespace } = activityInfo();
  const run = await getClient().workflowService.describeWorkflowExecution({ namespace, execution });
  const time = run.pendingActivities?.find((pending) => pending.activityId === activityId)?.lastStartedTime;
  if (!time) throw new Error('the server does not show this attempt');
  return Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1e6;
}

/** When an order may be sent, asked as often as needed during one attempt. */
export interface SendTimes {
  /** Returns why the order is too late to be sent; undefined = it may be sent. */
  tooLate(): Promise<CreateVerdict | undefined>;
  /** Returns the rest of its delay, so that it keeps its time however late it is sent; undefined = it has none. */
  delayMinutes(): number | undefined;
}

/** Reads the server's clock, if the times of this order need it. Its delay counts from the start of its run. */
export async function readSendTimes(
  { nowMs = Date.now, attemptStartedMs: started = attemptStartedMs }: ActivityDeps,
  { startedAtMs, input, late, permission }: CreateOrderInput,
  request: CreateRequest,
  deadline: AttemptDeadline,
): Promise<SendTimes> {
  const { latestSend } = input as OrderInput;
  const delay = 'delay_order_for_minutes' in request ? request.delay_order_for_minutes : undefined;
  const handedOutMs = delay || latestSend ? await started() : 0;
  const serverMs = () => handedOutMs + deadline.elapsedMs();
  const startsAtMs = startedAtMs + (delay ?? 0) * 60_000;
  return {
    async tooLate() {
      // One of the two clocks may be slow.
      if (latestSend && Math.max(await nowMs(), serverMs()) > Date.parse(latestSend)) {
        const reason = `its latest send time ${latestSend} is over`;
        return { kind: permission === 'first' ? 'stale' : 'notSent', reason };
      }
      if (!delay || late || serverMs() < startsAtMs) return undefined;
      return { kind: 'notSent', reason: 'the time that it was to start at has passed' };
    },
    delayMinutes: () => (delay === undefined ? undefined : Math.max(0, Math.ceil((startsAtMs - serverMs()) / 60_000))),
  };
}

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
export function meaningOf(error: unknown, { notExecutedStatuses }: InForce): FailedCreate {
  if (error instanceof NotSentError || error instanceof AttemptTooOldError || error instanceof AuditNotWrittenError) {
    return { kind: 'notSent' };
  }
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

/** What is sent: the checked request, what is left of its delay, and where the service calls back. */
export function wireRequest(
  { callback }: ActivityDeps,
  { account }: CreateOrderInput,
  request: CreateRequest,
  delayMinutes: number | undefined,
) {
  const [signingKey] = callback?.tokenKeys ?? [];
  return {
    ...request,
    ...(delayMinutes !== undefined && { delay_order_for_minutes: delayMinutes }),
    ...(callback &&
      signingKey && {
        callback_url: callbackUrl(callback.baseUrl, signingKey, {
          kind: 'order',
          account,
          orderId: request.order_id,
        }),
      }),
  };
}
