import {
  ActivityFailure,
  type ActivityInterfaceFor,
  type ActivityOptions,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { KEY_REFUSED } from '../../contract/failures.js';
import type {
  Circumstances,
  CreateAnswer,
  ElsewhereAnswer,
  LookUpAnswer,
  LookUpInput,
  Turn,
} from '../../contract/order/activities.js';
import { wholeAnswer } from '../../contract/order/lean.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { stricter } from '../../contract/order/stricter.js';
import { ALARM, answersWithin, failureOf, isMoneyMoving, readOnly, SEND_TIMEOUT_MS, watch } from '../activity-calls.js';
import { applyOutcome, type Doubt } from '../create/facts.js';
import { isForeign } from '../interceptors.js';
import { closeWithoutOrder } from '../order/end.js';
import { clearAttention, raiseAttention, showTurn } from '../order/show.js';
import { mayHaveSent as mayHaveBeenSent, notePayers, type OrderRun } from '../order/state.js';
import { type AskMore, isElsewhere, untilSameAccount } from './elsewhere.js';
import { endSilence, raiseSilence, raiseSilent, raiseUnserved, unservedFor } from './silence.js';
import { askForTurn, turnText } from './turn.js';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [60_000, 3_600_000];

/** After an answer of something without the keys, which may be one of many pollers: the next task may reach a worker of ours. */
const FIRST_WAIT_FOREIGN_MS = 5_000;

/** How a question about an order is put: what its activity is called in the UI, and what is special about it. */
export interface Asking extends Pick<ActivityOptions, 'summary' | 'activityId' | 'startToCloseTimeout'> {
  /** A person is told when there is no answer for a quarter of an hour. Costs a timer: not for the normal path. */
  alarm?: boolean;
  /** The activity waits as long before it asks. */
  delayMs?: number;
  /** The activity checks the whole input first, and bad input ends the run instead of being asked about again. */
  checksInput?: boolean;
}

/**
 * THE way to ask about an order: an activity that the server repeats, without history, until there is a clear answer. A
 * person is told when no worker takes it, when it failed for good, and with `alarm` when the service stays silent.
 */
export function ask<T>(
  run: OrderRun,
  { alarm, delayMs, checksInput, ...activity }: Asking,
  put: Schedule<T>,
): Promise<T> {
  const checked: Schedule<T> = (activities, late) => unlessInvalid(run, put(activities, late));
  const options = { ...readOnly(run.account), ...activity };
  const pending = untilAnswered(run, options, checksInput ? checked : put);
  return alarm ? withAlarm(run, pending, delayMs) : pending;
}

/** What an attempt or a look-up answered: a verdict or a reading, with the circumstances. */
type Answer = Partial<Circumstances> & Pick<CreateAnswer, 'caps'> & { kind: string; said?: string };

/** THE place where look-ups wait for the account that the order was sent to; only its readings count. */
export async function askForReading<T extends Answer>(
  run: OrderRun,
  { delayMs, alarm = false, ...plain }: Asking,
  put: (activities: Parameters<Schedule<T>>[0], more: AskMore) => Promise<T | ElsewhereAnswer>,
): Promise<T> {
  const waiting = delayMs ? { delayMs } : {};
  const first = await ask(run, { ...plain, ...waiting, alarm }, (activities) => put(activities, waiting));
  const again = (more: AskMore) => ask(run, plain, (activities) => put(activities, more));
  const answer = isElsewhere(first) ? await untilSameAccount(run, first, again) : first;
  noteAnswer(run, answer);
  run.lastLookUp.atMs = Date.now();
  endSilence(run);
  return answer;
}

/** What a look-up asks besides: an order by its uuid, or how far an answer without our order can be believed. */
export type Looking = Asking & Pick<LookUpInput, 'orderUuid' | 'sentUntilMs' | 'awaitsLater'>;

/** One reading of the order by a signed look-up: of the order that is known, of `orderUuid`, or of what has our id. */
export function lookUp(run: OrderRun, { orderUuid, sentUntilMs, awaitsLater, ...question }: Looking) {
  const input = (): LookUpInput => ({
    type: run.type,
    account: run.account,
    request: run.request,
    orderUuid: orderUuid ?? run.order?.order_uuid,
    known: run.order && true,
    sentTo: run.sentTo,
    ...(sentUntilMs !== undefined && { sentUntilMs }),
    ...(awaitsLater && { awaitsLater }),
    ...(run.approved && { approved: run.approved }),
  });
  return askForReading<LookUpAnswer>(run, question, ({ lookUpOrder }, more) => lookUpOrder({ ...input(), ...more }));
}

/** Kinds that show an order under our id where it was asked for. */
const SHOWN = ['accepted', 'adopted', 'found'];

/**
 * Records what an answer says besides its `kind`. The order is pinned to the account asked once it may have been sent or
 * was seen; before that the account may be the wrong one.
 */
export function noteAnswer(run: OrderRun, answer: Answer, mayHaveSent = false): void {
  run.strictest = stricter(run.strictest, answer);
  run.answeredIn = answer.runId ?? run.answeredIn;
  if (answer.restoredAtMs !== undefined) noteRestore(run, answer.restoredAtMs);
  // A doubt is resolved at one account.
  const isDoubted = run.facts.doubt?.place === 'asked';
  if (mayHaveSent || SHOWN.includes(answer.kind) || isDoubted) run.sentTo ??= answer.sentTo;
  notePayers(run, answer.payers);
  if (answer.kind === 'absent') run.lastLookUp.statusSaid = answer.said;
}

/** A restored Temporal may have forgotten a create of this order id. */
function noteRestore(run: OrderRun, restoredAtMs: number): void {
  if (run.order) return;
  const said = 'Temporal was restored, and an earlier create may not be shown yet';
  // A request may have been under way when Temporal went back.
  const untilMs = restoredAtMs + SEND_TIMEOUT_MS;
  const doubt: Doubt = { cause: 'restored', untilMs, sinceMs: untilMs, place: 'asked', said };
  run.facts = applyOutcome(run.facts, { kind: 'doubted', doubt });
}

const BY_FOREIGNER = 'by something without the payload keys: find out who polls its task queue';

/**
 * Repeats a question whose activity ended for good (an operator failed it, a bug): an order whose outcome is open must not
 * end because a question could not be asked. Ever more slowly: each time costs history.
 */
async function untilAnswered<T>(run: OrderRun, options: ActivityOptions, put: Schedule<T>): Promise<T> {
  let said: string | undefined;
  for (let waitMs: number | undefined; ; ) {
    try {
      const answer = await untilServed(run, options, put);
      clearAttention(run, said);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      const ended = raiseEnded(run, error);
      said = ended.said;
      const nextMs = waitMs === undefined ? ended.firstWaitMs : 2 * waitMs || FIRST_WAIT_FOREIGN_MS;
      waitMs = Math.min(nextMs, LONGEST_WAIT_MS);
      if (waitMs > 0) await sleep(waitMs, { summary: `Before ${error.activityType} is asked again` });
    }
  }
}

/** Tells a person why a question ended without an answer. `said`: what the answer takes back. */
function raiseEnded(run: OrderRun, error: ActivityFailure): { said?: string; firstWaitMs: number } {
  const refused = failureOf(error);
  if (refused?.type === KEY_REFUSED) {
    raiseSilent(run, { code: 'key-refused', said: refused.message.slice(0, 300) });
    // The server repeats it from now on, without history.
    return { firstWaitMs: 0 };
  }
  const foreign = isForeign(error);
  const happened = foreign ? `was answered ${BY_FOREIGNER}` : 'failed for good';
  const said = `the activity ${error.activityType} ${happened}; it is asked again, once an hour at least`;
  raiseAttention(run, foreign ? 'foreign-answer' : 'read-failed', said);
  return { said, firstWaitMs: foreign ? FIRST_WAIT_FOREIGN_MS : FIRST_WAIT_MS };
}

/** Ends the run where the first activity, which checks the whole input, refuses it. */
async function unlessInvalid<T>(run: OrderRun, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.type !== 'InvalidOrder') throw error;
    closeWithoutOrder(run, 'InvalidOrder', failure.message, ...(failure.details ?? []));
  }
}

async function withAlarm<T>(run: OrderRun, pending: Promise<T>, delayMs = 0): Promise<T> {
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS, ALARM))) {
    // An answer that comes meanwhile is not held up.
    await Promise.race([pending, raiseSilence(run, watch(pending))]);
  }
  const answer = await pending;
  endSilence(run);
  return answer;
}

/** Schedules an activity. `late`: no worker took it for a quarter of an hour. */
export type Schedule<T> = (activities: ActivityInterfaceFor<Activities>, late: boolean) => Promise<T>;

/** Schedules an activity, and fills in what its answer leaves out. */
const scheduled = async <T>(schedule: Schedule<T>, options: ActivityOptions, late = false): Promise<T> =>
  wholeAnswer(await schedule(proxyActivities<Activities>(options), late));

/** Times that a run tells a person that nobody serves it: each costs history, and an overloaded queue has no end of them. */
const MAX_TOLD = 20;

/**
 * Schedules an activity of an order. If no worker takes it for a quarter of an hour, the order
 * shows its place in line, or a person is asked for until somebody serves the account. The server
 * counts the time that an attempt waits for a worker, and writes only its end.
 */
export function untilServed<T>(run: OrderRun, options: ActivityOptions, schedule: Schedule<T>): Promise<T> {
  if (run.timesUnserved >= MAX_TOLD) return scheduled(schedule, options);
  return untilTaken(run.account, options, schedule, (turn) => {
    if (turn) {
      showTurn(run, turnText(run.account, turn));
      return () => showTurn(run);
    }
    run.timesUnserved += 1;
    return raiseUnserved(run, unserved(run));
  });
}

/**
 * Each limit is so many times as long as the one before: a task of which nobody takes notice costs
 * ever less history.
 */
const LIMIT_GROWS = 4;

/**
 * Schedules an activity with a limit and, each time it is over, again with a longer one: the server
 * has taken the one before out of the queue, so that nothing of it has run or will run. `tell` gets
 * the place in line, if a worker of the account answers, and returns what takes the telling back.
 */
export async function untilTaken<T>(
  account: string,
  options: ActivityOptions,
  schedule: Schedule<T>,
  tell: (turn?: Turn) => () => unknown,
): Promise<T> {
  let told: { turn: Turn | undefined; takeBack: () => unknown } | undefined;
  try {
    for (let limitMs = ATTENTION_AFTER_MS; ; ) {
      const limited = { ...options, scheduleToStartTimeout: limitMs };
      try {
        return await scheduled(schedule, limited, told !== undefined);
      } catch (error) {
        if (!isUntaken(error, options)) throw error;
      }
      const turn = await askForTurn(account, options.taskQueue);
      // A person who was asked for stays asked for, without another event, until somebody serves
      // the account.
      if (turn || !told || told.turn) {
        told?.takeBack();
        told = { turn, takeBack: tell(turn) };
      }
      limitMs = Math.max(LIMIT_GROWS * limitMs, 2 * (turn?.aboutMs ?? 0));
    }
  } finally {
    told?.takeBack();
  }
}

/**
 * True when no worker took the activity in time. An operator may have given a create a second attempt, after a first one that
 * may have sent and left its heartbeat: that one is not scheduled again, the caller settles it.
 */
function isUntaken(error: unknown, options: ActivityOptions): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  return !isMoneyMoving(options) || cause.lastHeartbeatDetails === undefined;
}

function unserved(run: OrderRun): string {
  const what = unservedFor(run.account);
  if (run.phase === 'creating' && !mayHaveBeenSent(run)) {
    return `${what}. Nothing was sent. Start a worker. If the account name is wrong, cancel the order, wait until it ends as OrderCancelled, then start it with the right account`;
  }
  return `${what}. The order may exist: never start it again under another id or account. Start a worker with the same key`;
}
