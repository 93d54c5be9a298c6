import { activityInfo, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Circumstances, CreateAnswer, CreateOrderInput, CreateVerdict } from '../contract/answers.js';
import { callbackUrl } from '../contract/callback-url.js';
import { echoDifferences } from '../contract/echo-check.js';
import { validateOrderInput } from '../contract/order-schema.js';
import type { CreateRequest, Order } from '../contract/orders.js';
import type { Rates } from '../contract/service-objects.js';
import { NotSentError, RateLimitedError, RejectedError } from '../payment-service/index.js';
import { accountOf } from './account-of.js';
import { AttemptDeadline } from './attempt-deadline.js';
import type { Account, ActivityDeps } from './deps.js';
import { invalidOrder } from './failures.js';
import { exceededCap, refuseBeyondLimits } from './limits.js';
import { probe } from './probe.js';
import { payersOf } from './shared-rates.js';

/** The attempt is too old, or no longer the one that counts: nothing was sent. */
class AttemptTooOldError extends Error {}

/**
 * One attempt to create an order: check → probe → send. It sends at most once and answers what is known afterwards; the
 * workflow decides what that means. Runs with `maximumAttempts: 1`. Fails only with InvalidOrder (nothing sent).
 */
export function createOrderActivity(deps: ActivityDeps) {
  return async function createOrder(attempt: CreateOrderInput): Promise<CreateAnswer> {
    const deadline = new AttemptDeadline();
    const request = validRequest(attempt);
    const account = accountOf(deps, attempt.account);
    const rates = await account.rates.current();
    // Once something may have been sent, limits no longer decide: InvalidOrder would say that no order exists.
    const notes =
      attempt.permission === 'first' ? await refuseBeyondLimits(deps, account, attempt.type, request, rates) : [];
    const verdict =
      attempt.host === undefined || attempt.host === account.host
        ? await probeThenSend(deps, account, attempt, request, deadline)
        : otherHost(attempt.host, account.host);
    log.info('create attempt ended', { verdict: verdict.kind, permission: attempt.permission });
    return {
      ...verdict,
      ...circumstances(deps, account, attempt, request, rates),
      ...(notes.length > 0 && { notes }),
    };
  };
}

function validRequest({ type, input, followUp }: CreateOrderInput): CreateRequest {
  const checked = validateOrderInput(type, input, { followUp });
  if ('errors' in checked) throw invalidOrder(checked.errors);
  return checked.input.order;
}

function circumstances(
  deps: ActivityDeps,
  account: Account,
  { type }: CreateOrderInput,
  request: CreateRequest,
  rates: Rates | undefined,
): Circumstances {
  const payers = payersOf(rates, type, request);
  return { pace: deps.pace, runId: runId(), ...whereSent(account), ...(payers && { payers }) };
}

async function probeThenSend(
  deps: ActivityDeps,
  account: Account,
  attempt: CreateOrderInput,
  request: CreateRequest,
  deadline: AttemptDeadline,
): Promise<CreateVerdict> {
  let seen: Awaited<ReturnType<typeof probe>>;
  try {
    seen = await probe(account.service, attempt.type, request);
  } catch (error) {
    if (error instanceof RateLimitedError) return { kind: 'rateLimited', retryAfterMs: error.retryAfterMs };
    // A look-up that failed proves nothing, so nothing is sent.
    return { kind: 'notSent', reason: `the probe before the create failed (${nameOf(error)})` };
  }
  if (seen.kind === 'duplicates') return seen;
  if (seen.kind === 'found') {
    const { order, differences } = seen;
    if (differences.length === 0) return { kind: 'adopted', order };
    return { kind: 'conflict', orderUuid: order.order_uuid, differences };
  }
  // THE gate before every send. What was proven or permitted earlier never replaces the probe just made.
  if (attempt.permission === 'none') return { kind: 'uncertain', reason: 'an earlier create is not proven absent' };
  // The run that this one was cut from may have a create on its way that no probe shows yet.
  if (isForOtherRun(attempt)) {
    return { kind: 'uncertain', reason: 'the workflow was reset', reset: true };
  }
  const cap = attempt.approved ? undefined : exceededCap(deps, attempt.type, request);
  if (cap) return { kind: 'overCap', reason: cap };
  return send(deps, account, attempt, request, deadline);
}

/** What an order is pinned to at its send: the host, and the account's wallets where they are known. */
const whereSent = ({ host, seenWallets }: Account): Pick<Circumstances, 'host' | 'wallets'> => ({
  host,
  ...(seenWallets && { wallets: [...seenWallets] }),
});

/** True when the permission was earned by a run that this one was cut from by a reset. */
const isForOtherRun = ({ permission, firstExecutionRunId, provenIn }: CreateOrderInput): boolean =>
  runId() !== (permission === 'first' ? firstExecutionRunId : (provenIn ?? runId()));

const runId = (): string | undefined => activityInfo().workflowExecution?.runId;

const otherHost = (sentTo: string, asked: string): CreateVerdict => ({
  kind: 'notSent',
  reason: `an earlier create went to ${sentTo}, but this worker asks ${asked}: set the account's base URL back`,
});

async function send(
  deps: ActivityDeps,
  account: Account,
  attempt: CreateOrderInput,
  request: CreateRequest,
  deadline: AttemptDeadline,
): Promise<CreateVerdict> {
  try {
    const order = await account.service.createOrder(attempt.type, wireRequest(deps, attempt, request), {
      beforeSend: async () => {
        // What it tells the server reaches the workflow even when this worker dies now.
        await deps.confirmAttempt(whereSent(account)).catch(() => {
          throw new AttemptTooOldError();
        });
        // Last of all, because the waits for the rate limit and the server lie in between.
        if (!deadline.allowsSend()) throw new AttemptTooOldError();
      },
    });
    return verdictOfAnswer(attempt, request, order);
  } catch (error) {
    if (error instanceof AttemptTooOldError)
      return { kind: 'notSent', reason: 'the attempt was given up before it could send' };
    if (error instanceof NotSentError) return { kind: 'notSent', reason: `no connection (${error.reason})` };
    if (error instanceof RateLimitedError) return { kind: 'rateLimited', retryAfterMs: error.retryAfterMs };
    if (error instanceof RejectedError) return { kind: 'rejected' };
    // Everything else, known or not, may have reached the service: 5xx, time-out, reset, redirect, 401, garbage.
    return { kind: 'uncertain', reason: `the create got no clear answer (${nameOf(error)})` };
  }
}

/** A 200 counts only when it carries our order; a foreign or crossed answer says nothing about ours. */
function verdictOfAnswer({ type }: CreateOrderInput, request: CreateRequest, order: Order): CreateVerdict {
  const differences = echoDifferences(type, request, order);
  if (differences.length === 0) return { kind: 'accepted', order };
  return { kind: 'uncertain', reason: `the create was answered with another order (${differences.join(', ')})` };
}

function wireRequest(deps: ActivityDeps, { account, delayMinutes }: CreateOrderInput, request: CreateRequest) {
  const { callback } = deps;
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

/** An error's class name, and the service's HTTP status where there is one; never its message. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error instanceof ApplicationFailure) return error.message;
  return 'status' in error ? `HTTP ${String(error.status)}` : error.name;
}
