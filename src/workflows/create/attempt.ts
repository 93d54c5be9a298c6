import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { isFormOfId } from '../../contract/names.js';
import {
  CREATE_TIMEOUT_MS,
  type CreateAnswer,
  type CreateOrderInput,
  type CreateVerdict,
  SEND_TIMEOUT_MS,
  type SendPermission,
  type StoredByAttempt,
} from '../../contract/order/activities.js';
import type { SentTo } from '../../contract/order/sent-to.js';
import { Refused } from '../../contract/refused.js';
import { moneyMoving, untilOver } from '../activity-calls.js';
import { recordAnswer, untilServed } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { isForeign } from '../interceptors.js';
import { close } from '../order/end.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { doubtOfReset, isReset, type OrderRun } from '../order/state.js';
import type { Outcome } from './apply-outcome.js';
import { type Doubt, duplicateOrders, foreignOrder, wasEverInDoubt } from './facts.js';

const MAX_WAIT_MS = 60_000;

/**
 * Makes one attempt of the create activity, which sends at most once, and returns its outcomes. An
 * attempt without an answer of its own (a time-out, a dead worker, a bug) is uncertain.
 */
export async function attemptCreate(
  run: OrderRun,
  permission: SendPermission,
  isPermitted: () => boolean,
): Promise<Outcome[]> {
  if (run.revision > 1) enterPhase(run, 'creating', 'the create');
  const again = wasEverInDoubt(run.facts) ? ' again' : '';
  const options = { ...moneyMoving(run.account), summary: `Check, look up, then send${again} if allowed` };
  let askedAtMs = 0;
  try {
    // Asked again if no worker took it in time: it may have been cancelled or become late.
    const attempt = () =>
      untilServed<CreateAnswer>(run, options, async ({ createOrder }, late) => {
        if (late && !isPermitted()) throw new CancelledFailure('no worker took it');
        askedAtMs = Date.now();
        run.unconfirmedAtMs = undefined;
        return createOrder(attemptInput(run, permission));
      });
    // A worker that has it already finds out right before it sends (`confirmAttempt`).
    const answer = await untilOver(attempt, () => !isPermitted());
    if (!Object.hasOwn(VERDICTS, String(answer?.kind)))
      return outcomesOf(run, withoutAnswer(run, STRANGE_CREATE), permission);
    recordAnswer(run, answer, mayHaveReached(answer, permission));
    if (answer.notes) run.notes = answer.notes;
    return outcomesOf(run, answer, permission);
  } catch (error) {
    // Only for an attempt that no worker has. An earlier one may have sent if an operator reset or
    // paused it.
    const isQueued = !wasStarted(error) && !isPermitted();
    if (isCancellation(error) && (isQueued || !(error instanceof ActivityFailure))) return [{ kind: 'takenBack' }];
    return outcomesOf(run, verdictOfFailure(run, permission, error, askedAtMs), permission);
  }
}

/** Verdict of an attempt. `placeUnknown`: it may have been sent, to an unknown account. */
type Attempted = CreateVerdict & { placeUnknown?: boolean };

/** Verdicts of a create. Anything else was answered by another activity or by a foreign worker. */
const VERDICTS = {
  ...{ accepted: 1, adopted: 1, conflict: 1, duplicates: 1, rejected: 1, uncertain: 1 },
  ...{ notSent: 1, rateLimited: 1, overCap: 1, policy: 1, short: 1, stale: 1 },
} satisfies Record<CreateVerdict['kind'], 1>;

const STRANGE_CREATE =
  'what answered the create is no answer of a create: it may have been sent. Find out who answers its task queue';

function attemptInput(run: OrderRun, permission: SendPermission): CreateOrderInput {
  const { absence } = run.facts;
  return {
    type: run.type,
    account: run.account,
    input: run.input,
    firstExecutionRunId: workflowInfo().firstExecutionRunId,
    startedAtMs: workflowInfo().startTime.getTime(),
    permission,
    ...(permission === 'absent' && absence && { provenIn: absence.readIn }),
    ...(run.sentTo && { sentTo: run.sentTo }),
    ...(run.approved.amount && { approved: run.approved.amount }),
    ...approvedRules(run),
    ...(run.strictest.caps && { caps: run.strictest.caps }),
    ...(isLatePermitted(run) && { late: true }),
    ...(run.funds.isGranted && { funded: true }),
    ...(isFollowUp(run) && { followUp: true }),
  };
}

/** Returns the rules that enough persons approved, as a field to spread; {} without any. */
function approvedRules({ approved }: OrderRun): Pick<CreateOrderInput, 'approvedRules'> {
  const rules = approved.rules.flatMap(({ by, ...rule }) => (by.length >= rule.approvers ? [rule] : []));
  return rules.length > 0 ? { approvedRules: rules } : {};
}

const mayHaveReached = (verdict: CreateVerdict, permission: SendPermission): boolean =>
  verdict.kind === 'rejected' || (verdict.kind === 'uncertain' && !verdict.reset && permission !== 'none');

function verdictOfFailure(run: OrderRun, permission: SendPermission, error: unknown, askedAtMs: number): Attempted {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === 'InvalidOrder') {
    const { message, details = [] } = cause;
    // After a possible send, the id stays in use.
    if (permission !== 'first' || isReset()) return { kind: 'notSent', reason: message };
    close(run, 'InvalidOrder', message, ...(details ?? []));
  }
  if (cause instanceof TimeoutFailure) {
    // The attempt writes its account right before it sends, so it is known even if the worker dies,
    // unless an operator's reset takes it away.
    const written = cause.lastHeartbeatDetails as StoredByAttempt | Refused | undefined;
    const isUnsent = Object.hasOwn(Object(written), 'unsent');
    // A second attempt, whose first one may have sent, would take longer.
    if (isUnsent && permission !== 'none' && Date.now() - askedAtMs < 1.5 * CREATE_TIMEOUT_MS) {
      run.unconfirmedAtMs = askedAtMs;
      return { kind: 'notSent', reason: 'the worker that held the create was lost before it could send' };
    }
    const placeUnknown = written instanceof Refused && !run.sentTo;
    run.sentTo = (written as { sentTo?: SentTo } | undefined)?.sentTo ?? run.sentTo;
    const reason = 'the worker that held the create gave no answer in time';
    return { kind: 'uncertain', reason, timedOut: true, placeUnknown };
  }
  if (!(error instanceof ActivityFailure)) throw error;
  // An operator may have failed it while its worker continues.
  return withoutAnswer(run, isForeign(error) ? FOREIGN_CREATE : undefined);
}

/** Verdict of an attempt without a valid answer: its request may still be in flight. */
function withoutAnswer(run: OrderRun, attention?: string): Attempted {
  if (attention) raiseAttention(run, 'foreign-answer', attention);
  const reason = attention ?? 'the create attempt ended without an answer';
  return { kind: 'uncertain', reason, timedOut: true, placeUnknown: !run.sentTo };
}

const FOREIGN_CREATE =
  'something without the payload keys answered the create: it may have been sent. Find out who polls its task queue';

/**
 * Returns true if the history has a start of the activity. The server cancels only what no worker has
 * started; a later cancellation comes from a foreign worker.
 */
function wasStarted(error: unknown): boolean {
  const started = error instanceof ActivityFailure ? error.failure?.activityFailureInfo?.startedEventId : undefined;
  return Number(started ?? 0) > 0;
}

function outcomesOf(run: OrderRun, verdict: Attempted, permission: string): Outcome[] {
  const nowMs = Date.now();
  const place = verdict.placeUnknown ? 'unknown' : 'asked';
  switch (verdict.kind) {
    case 'accepted':
    case 'adopted':
      return [{ kind: 'seen', seen: { ...verdict, kind: 'ours', how: verdict.kind } }];
    case 'conflict':
      return [{ kind: 'seen', seen: foreignOrder(run, verdict) }];
    case 'duplicates':
      return [{ kind: 'seen', seen: duplicateOrders(verdict) }];
    case 'notSent': {
      if (verdict.stopped) return [{ kind: 'stopped', why: verdict.reason }];
      const waitMs = Math.min(MAX_WAIT_MS, 500 * 2 ** (run.facts.budget.notSent + 1));
      return [{ kind: 'notSent', why: verdict.reason, waitMs, isLimited: false }];
    }
    case 'rateLimited': {
      const why = 'the service answers "too many requests"';
      return [{ kind: 'notSent', why, waitMs: verdict.retryAfterMs, isLimited: true }];
    }
    case 'overCap': {
      const { kind: _, reason: why, placeUnknown: __, ...toApprove } = verdict;
      return [{ kind: 'blocked', by: 'cap', why, toApprove }];
    }
    case 'policy':
      return [{ kind: 'blocked', by: 'policy', why: verdict.reason, rules: verdict.rules }];
    case 'short': {
      const { reason: why, amount, currency } = verdict;
      const waits = run.input.whenShort !== 'ask';
      return [{ kind: 'blocked', by: 'short', why, toApprove: { amount, currency }, waits }];
    }
    case 'stale':
      return [{ kind: 'blocked', by: 'stale', why: verdict.reason }];
    case 'rejected': {
      const answer = verdict.excerpt === undefined ? 'HTTP 400' : `HTTP 400: ${verdict.excerpt}`;
      return [{ kind: 'refused', answer, atMs: nowMs, place, needsLater: isFollowUp(run) }];
    }
    case 'uncertain': {
      const { reset, reason, timedOut, retryAfterMs, named } = verdict;
      // The first answer to a run opens it.
      if (reset) return run.facts.doubt?.cause === 'reset' ? [] : [{ kind: 'doubted', doubt: doubtOfReset() }];
      // The attempt sent nothing and only looked for an order of an earlier run.
      if (permission === 'none') return [{ kind: 'seen', seen: { kind: 'absent' } }];
      // Until then, the attempt may still send, or `Retry-After` holds.
      const untilMs = nowMs + (timedOut ? SEND_TIMEOUT_MS : (retryAfterMs ?? 0));
      const doubt: Doubt = { cause: 'uncertainCreate', untilMs, place, said: reason };
      const doubted: Outcome = { kind: 'doubted', doubt, costs: { isLimited: retryAfterMs !== undefined } };
      if (!named) return [doubted];
      // The service keeps our id in another form, under which look-ups may not find the order, or
      // the answers of two creates were exchanged: then look-ups find ours.
      const { askAtOnce: _, ...conflict } = foreignOrder(run, named);
      const { user_order_id: id } = named.order;
      const askAtOnce = id !== run.request.order_id && isFormOfId(id, run.request.order_id);
      return [doubted, { kind: 'seen', seen: { ...conflict, isNamed: true, ...(askAtOnce && { askAtOnce }) } }];
    }
  }
}

const askedDelayMinutes = ({ request }: OrderRun): number | undefined =>
  'delay_order_for_minutes' in request ? request.delay_order_for_minutes : undefined;

/** Time at which a delayed order starts. A reset keeps the start of the run. */
export const startsAtMs = (run: OrderRun): number =>
  workflowInfo().startTime.getTime() + (askedDelayMinutes(run) ?? 0) * 60_000;

/** Returns the milliseconds until a delayed order starts, by the Temporal server's clock. */
export const untilDelayedStartMs = (run: OrderRun): number => Math.max(0, startsAtMs(run) - Date.now());

export const delayHasPassed = (run: OrderRun): boolean =>
  (askedDelayMinutes(run) ?? 0) > 0 && untilDelayedStartMs(run) === 0;

/** Returns true after `latestSend`: nothing is sent any more, whatever an operator decides. */
export const latestSendIsOver = ({ input }: OrderRun): boolean => Date.now() > Date.parse(input?.latestSend ?? '');

/** Returns true if an operator who knew that the order is late permitted its send. */
const isLatePermitted = ({ facts: { late, absence } }: OrderRun): boolean =>
  late === 'allowed' || absence?.permitted?.late === true;
