import { activityInfo, getClient } from '@temporalio/activity';
import type { ActivitySerializationContext } from '@temporalio/common';
import { AuditNotWrittenError } from '../../audit/audit-record.js';
import { callbackUrl } from '../../contract/callback-url.js';
import { echoDifferences } from '../../contract/differences/echo.js';
import type { CreateOrderInput, CreateVerdict, StoredByAttempt } from '../../contract/order/activities.js';
import { type OrderInput, whyTooLate } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { Order } from '../../contract/service-objects.js';
import { NotSentError, RateLimitedError, RejectedError, UnexpectedStatusError } from '../../payment-service/errors.js';
import type { Account, ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import type { InForce } from '../protections.js';
import { stopped, stopsOf } from '../stops.js';

/**
 * Throws if the server gave this attempt up, cancelled or paused it, and stores `details` there. A
 * worker that stood still cannot know that itself.
 */
export async function confirmAttempt(details: unknown): Promise<void> {
  const { taskToken, activityId, workflowExecution, workflowNamespace: namespace = '' } = activityInfo();
  // A task token does not name its workflow, and required encryption refuses unbound payloads.
  const serializationContext: ActivitySerializationContext = {
    type: 'activity',
    namespace,
    activityId,
    workflowId: workflowExecution?.workflowId,
    isLocal: false,
  };
  await getClient().activity.heartbeat(taskToken, details, { serializationContext });
}

/** Time after which an attempt says that it has not sent. Most have ended by then. */
const UNSENT_AFTER_MS = 2_000;

/**
 * Leaves the word that an attempt has not sent, once it takes long. Without it, a lost one is in
 * doubt, since an operator may take words away. `end` throws GivenUpError if one may come later.
 */
export function noteUnsent({ confirmAttempt }: Pick<ActivityDeps, 'confirmAttempt'>): { end: () => Promise<void> } {
  let failed: Promise<boolean> | undefined;
  const timer = setTimeout(() => {
    const left = confirmAttempt({ unsent: true } satisfies StoredByAttempt);
    failed = left.then(
      () => false,
      () => true,
    );
  }, UNSENT_AFTER_MS);
  return {
    async end() {
      clearTimeout(timer);
      if (await failed) throw new GivenUpError();
    },
  };
}

/** Thrown right before the request would be written. `verdict`: answer of the attempt. */
export class GivenUpError extends Error {
  constructor(
    readonly verdict: Extract<CreateVerdict, { kind: 'notSent' | 'stale' | 'uncertain' }> = notSent(
      'the attempt was given up before it could send',
    ),
  ) {
    super();
  }
}

/**
 * Runs last before a create is written. `details` reach the workflow even if this worker dies.
 * Throws GivenUpError.
 */
export async function confirmSend(
  deps: ActivityDeps,
  account: Account,
  deadline: AttemptDeadline,
  details: object,
  times?: SendTimes,
): Promise<void> {
  const { confirmAttempt, isCopied } = deps;
  const tooOld = (): never => {
    throw new GivenUpError();
  };
  if (await isCopied?.().catch(tooOld)) {
    throw new GivenUpError({ kind: 'uncertain', reason: 'this attempt is a copy of one that may have sent' });
  }
  const stops = stopsOf(deps, account);
  await Promise.all([stops.why(), confirmAttempt(details)]).catch(tooOld);
  // Read again if the confirmation took long.
  const why = await stops.why().catch(tooOld);
  if (why) throw new GivenUpError(stopped(why));
  const late = await times?.tooLate();
  if (late) throw new GivenUpError(late);
  // Checked last, because waits for the rate limit and the server come before.
  if (!deadline.allowsSend()) tooOld();
}

/** Usable part of an attempt's 60 s. The rest covers the report to the server. */
const ATTEMPT_MS = 50_000;

/** Minimum time for a send: 20 s for HTTP, and a margin. */
const NEEDED_FOR_SEND_MS = 25_000;

/**
 * Age of a create attempt: a worker that stood still must not send later. Uses two clocks, because
 * one stops while a machine sleeps and the other may be set.
 */
export class AttemptDeadline {
  readonly #startedAt = performance.now();
  readonly #startedAtWall = Date.now();

  /** Returns true while there is time to send and to receive the answer. */
  allowsSend(): boolean {
    return this.leftToWaitMs() >= 0;
  }

  /** Returns how long the attempt may wait before its send; negative if it is too late. */
  leftToWaitMs(): number {
    return ATTEMPT_MS - NEEDED_FOR_SEND_MS - this.elapsedMs();
  }

  /** Returns the age of the attempt. */
  elapsedMs(): number {
    return Math.max(performance.now() - this.#startedAt, Date.now() - this.#startedAtWall);
  }
}

/**
 * Returns the server's time at which it handed out this attempt. Throws if it gave the attempt up.
 */
async function attemptStartedMs(): Promise<number> {
  const { activityId, workflowExecution: execution, workflowNamespace: namespace } = activityInfo();
  const run = await getClient().workflowService.describeWorkflowExecution({ namespace, execution });
  const time = run.pendingActivities?.find((pending) => pending.activityId === activityId)?.lastStartedTime;
  if (!time) throw new Error('the server does not show this attempt');
  return Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1e6;
}

/** When an order may be sent. */
export interface SendTimes {
  /** Returns why the order is too late to be sent; undefined if it may be sent. */
  tooLate(): Promise<{ kind: 'stale' | 'notSent'; reason: string } | undefined>;
  /** Returns the rest of its delay, counted from the start; undefined without a delay. */
  delayMinutes(): number | undefined;
}

/**
 * Reads the server's clock if the order's times need it. A delay counts from the start of the run.
 */
export async function readSendTimes(
  { nowMs = Date.now, attemptStartedMs: started = attemptStartedMs }: ActivityDeps,
  { startedAtMs, input, late, permission }: Pick<CreateOrderInput, 'startedAtMs' | 'input' | 'late' | 'permission'>,
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
      const reason = latestSend && whyTooLate(latestSend, Math.max(await nowMs(), serverMs()));
      if (reason) return { kind: permission === 'first' ? 'stale' : 'notSent', reason };
      if (!delay || late || serverMs() < startsAtMs) return undefined;
      return notSent('the time that it was to start at has passed');
    },
    delayMinutes: () => (delay === undefined ? undefined : Math.max(0, Math.ceil((startsAtMs - serverMs()) / 60_000))),
  };
}

/** Returns the verdict of an attempt that sent nothing. */
export const notSent = (reason: string): Extract<CreateVerdict, { kind: 'notSent' }> => ({ kind: 'notSent', reason });

/** Returns the verdict of an attempt that ended before a send; `what` failed with `error`. */
export const notSentBecause = (what: string, error: unknown): CreateVerdict =>
  error instanceof RateLimitedError
    ? { kind: 'rateLimited', retryAfterMs: error.retryAfterMs }
    : notSent(`${what} (${reasonOf(error)})`);

/**
 * Decides whether a failed create may have been executed. A proxy may answer any status after it
 * passed the request on: only PAYMENT_NOT_EXECUTED_STATUSES proves anything.
 */
export function verdictOfError(error: unknown, { notExecutedStatuses }: InForce): CreateVerdict {
  if (error instanceof GivenUpError) return error.verdict;
  if (error instanceof NotSentError) return notSent(`no connection (${error.reason})`);
  if (error instanceof AuditNotWrittenError) return notSent(error.message);
  // The workflow believes it only after it has read absence: it may also mean that the id exists.
  if (error instanceof RejectedError) {
    return { kind: 'rejected', ...(error.excerpt !== undefined && { excerpt: error.excerpt }) };
  }
  const hasStatus = error instanceof RateLimitedError || error instanceof UnexpectedStatusError;
  if (hasStatus && notExecutedStatuses.includes(error.status)) {
    return notSentBecause('the service executes nothing that it answers so', error);
  }
  // 429, 5xx, time-out, reset, redirect, 401, garbage: the create may have reached the service.
  return { kind: 'uncertain', reason: `the create got no clear answer (${reasonOf(error)})`, ...retryAfterOf(error) };
}

/** Returns the verdict of a 200. It counts only if it shows our order. */
export function verdictOfAnswer({ type }: CreateOrderInput, request: CreateRequest, order: Order): CreateVerdict {
  const { hard, soft } = echoDifferences(type, request, order);
  if (hard.length === 0) return { kind: 'accepted', order, ...(soft.length > 0 && { soft }) };
  const reason = `the create was answered with another order (${hard.join(', ')})`;
  // Like ours but for its id: the service may keep ids in another form, such as a rounded number.
  const isNamed = !hard.includes('order_id') || hard.length === 1;
  return { kind: 'uncertain', reason, ...(isNamed && { named: { order, differences: hard } }) };
}

/** Returns the service's retry time in ms as a field to spread; {} without one. */
export const retryAfterOf = (error: unknown): { retryAfterMs?: number } =>
  error instanceof RateLimitedError ? { retryAfterMs: error.retryAfterMs } : {};

/** Returns the request to send: checked, with the rest of its delay and the callback URL. */
export function wireRequest(
  { callback }: ActivityDeps,
  { account }: CreateOrderInput,
  request: CreateRequest,
  delayMinutes: number | undefined,
) {
  const [key] = callback?.tokenKeys ?? [];
  const about = { kind: 'order', account, orderId: request.order_id } as const;
  return {
    ...request,
    ...(delayMinutes !== undefined && { delay_order_for_minutes: delayMinutes }),
    ...(callback && key && { callback_url: callbackUrl(callback.baseUrl, key, about) }),
  };
}
