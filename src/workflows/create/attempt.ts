import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { CreateAnswer, CreateOrderInput, CreateVerdict, SendPermission } from '../../contract/order/activities.js';
import type { SentTo } from '../../contract/order/sent-to.js';
import { Refused } from '../../contract/refused.js';
import { moneyMoving, watch } from '../activity-calls.js';
import { noteAnswer, untilServed } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { isForeign } from '../interceptors.js';
import { type Closed, closed } from '../order/end.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { isReset, type OrderRun } from '../order/state.js';
import { wasEverInDoubt } from './facts.js';

/**
 * One attempt of the create activity. It sends at most once, and not at all without permission. Whatever ends it without
 * an answer of its own (worker died, time-out, a bug) is 'uncertain': the create may have reached the service. `isPermitted` is asked
 * once more where no worker took it in time: it may have been cancelled, or become late, while it waited.
 */
export async function attemptCreate(
  run: OrderRun,
  permission: SendPermission,
  isPermitted: () => boolean,
): Promise<Attempted | Closed | TakenBack> {
  if (run.revision > 1) enterPhase(run, 'creating', 'the create');
  const options = { ...moneyMoving(run.account), summary: summaryOf(run) };
  try {
    const attempt = () =>
      untilServed<CreateAnswer>(run, options, ({ createOrder }, late) =>
        late && !isPermitted() ? Promise.resolve(NO_LONGER_PERMITTED) : createOrder(attemptInput(run, permission)),
      );
    const answer = await unlessTakenBack(attempt, isPermitted);
    if (!VERDICTS.has(answer?.kind)) return withoutAnswer(run, STRANGE_CREATE);
    noteAnswer(run, answer, mayHaveReached(answer, permission));
    if (answer.notes) run.notes = answer.notes;
    return answer;
  } catch (error) {
    return verdictOfFailure(run, permission, error, isPermitted);
  }
}

/** What an attempt came to. `placeUnknown`: it may have been sent, and nothing tells where. */
export type Attempted = CreateVerdict & { placeUnknown?: boolean };

/** The server says that it took the attempt out of its queue, where no worker had started it. */
export interface TakenBack {
  kind: 'takenBack';
}

const NO_LONGER_PERMITTED: CreateAnswer = {
  kind: 'notSent',
  reason: 'no worker took it, and it was cancelled or became late meanwhile',
} as CreateAnswer;

/** What a create may answer; whatever else comes is the answer of another activity, or of nobody of ours. */
const VERDICTS: ReadonlySet<unknown> = new Set(
  Object.keys({
    accepted: true,
    adopted: true,
    conflict: true,
    duplicates: true,
    notSent: true,
    rateLimited: true,
    overCap: true,
    stale: true,
    rejected: true,
    uncertain: true,
  } satisfies Record<CreateVerdict['kind'], true>),
);

const STRANGE_CREATE =
  'what answered the create is no answer of a create: it may have been sent. Find out who answers its task queue';

function attemptInput(run: OrderRun, permission: SendPermission): CreateOrderInput {
  const { absence } = run.facts;
  return {
    type: run.type,
    account: run.account,
    input: run.input,
    firstExecutionRunId: workflowInfo().firstExecutionRunId,
    startedAtMs: startedAtMs(),
    permission,
    ...(permission === 'absent' && absence && { provenIn: absence.readIn }),
    ...(run.sentTo && { sentTo: run.sentTo }),
    ...(run.approved && { approved: run.approved }),
    ...(run.strictest.caps && { caps: run.strictest.caps }),
    ...(isLatePermitted(run) && { late: true }),
    ...(isFollowUp(run) && { followUp: true }),
  };
}

/** True for an attempt that was free to send and does not say that it did not. */
const mayHaveReached = (verdict: CreateVerdict, permission: SendPermission): boolean =>
  verdict.kind === 'rejected' || (verdict.kind === 'uncertain' && !verdict.reset && permission !== 'none');

const summaryOf = (run: OrderRun): string =>
  wasEverInDoubt(run.facts) ? 'Check, look up, then send again if allowed' : 'Check, look up, then send if allowed';

/**
 * Cancels an attempt once it is no longer permitted: it was cancelled, or a callback came. Cancelling takes it out of
 * the queue; a worker that has it already finds out right before its send (`confirmAttempt`).
 */
async function unlessTakenBack<T>(attempt: () => Promise<T>, isPermitted: () => boolean): Promise<T> {
  const scope = new CancellationScope();
  const answer = scope.run(attempt);
  const answered = watch(answer);
  await condition(() => answered() || !isPermitted());
  if (!answered()) scope.cancel();
  return answer;
}

function verdictOfFailure(
  run: OrderRun,
  permission: SendPermission,
  error: unknown,
  isPermitted: () => boolean,
): Attempted | Closed | TakenBack {
  // Reported only for an attempt that no worker has in hand. One before it may have sent, if a person gave it more attempts or paused it.
  if (isCancellation(error) && !wasStarted(error) && !isPermitted()) return { kind: 'takenBack' };
  // Nothing was scheduled any more: it was cancelled at the moment at which no worker had taken the one before in time.
  if (isCancellation(error) && !(error instanceof ActivityFailure)) return NO_LONGER_PERMITTED;
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === 'InvalidOrder') {
    const { message, details = [] } = cause;
    // Where something may have been sent, its id stays in use.
    if (permission !== 'first' || isReset()) return { kind: 'notSent', reason: message };
    return closed('InvalidOrder', message, details ?? []);
  }
  if (cause instanceof TimeoutFailure) {
    // Written by the attempt right before its send; says where it went even when the worker died.
    const written = cause.lastHeartbeatDetails as { sentTo?: SentTo } | Refused | undefined;
    const placeUnknown = written instanceof Refused && !run.sentTo;
    if (!(written instanceof Refused)) run.sentTo ??= written?.sentTo;
    const reason = 'the worker that held the create gave no answer in time';
    return { kind: 'uncertain', reason, timedOut: true, placeUnknown };
  }
  if (!(error instanceof ActivityFailure)) throw error;
  // Failed by an operator, perhaps, while its worker goes on.
  return withoutAnswer(run, isForeign(error) ? FOREIGN_CREATE : undefined);
}

/** An attempt that ended by another's word: nothing tells that its request is over, or where it went. `told`: what a person is told. */
function withoutAnswer(run: OrderRun, told?: string): Attempted {
  if (told) raiseAttention(run, 'foreign-answer', told);
  const reason = told ?? 'the create attempt ended without an answer';
  return { kind: 'uncertain', reason, timedOut: true, placeUnknown: !run.sentTo };
}

/** Stays until the order ends: who answers one attempt may answer the next. */
const FOREIGN_CREATE =
  'something without the payload keys answered the create: it may have been sent. Find out who polls its task queue';

/**
 * True where the history has a start of the activity. The server cancels what no worker has started; a cancellation of what one
 * has started is the word of whoever sent it, and no worker of ours sends it.
 */
function wasStarted(error: unknown): boolean {
  const started = error instanceof ActivityFailure ? error.failure?.activityFailureInfo?.startedEventId : undefined;
  return Number(started ?? 0) > 0;
}

/** The delay the caller asked for, in minutes; undefined for types and orders without one. */
const askedDelayMinutes = ({ request }: OrderRun): number | undefined =>
  'delay_order_for_minutes' in request ? request.delay_order_for_minutes : undefined;

/** A run that a reset makes keeps the start of the run that it was cut from. */
const startedAtMs = (): number => workflowInfo().startTime.getTime();

/** Returns the time until a delayed order starts, on the server's clock, in milliseconds; 0 without delay. */
export const untilDelayedStartMs = (run: OrderRun): number =>
  Math.max(0, startedAtMs() + (askedDelayMinutes(run) ?? 0) * 60_000 - Date.now());

/** True when a delayed order's time went by before it came to exist: a person decides whether it is still wanted. */
export const delayHasPassed = (run: OrderRun): boolean =>
  (askedDelayMinutes(run) ?? 0) > 0 && untilDelayedStartMs(run) === 0;

/** True after `latestSend`: nothing is sent any more, whatever a person decides. */
export const latestSendIsOver = ({ input }: OrderRun): boolean => Date.now() > Date.parse(input?.latestSend ?? '');

/** A late order is sent only if a person who knew that it is late said so. */
const isLatePermitted = ({ facts: { late, absence } }: OrderRun): boolean =>
  late === 'allowed' || absence?.permitted?.late === true;
