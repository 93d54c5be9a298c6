import { ActivityFailure, type ActivityOptions, isCancellation, sleep } from '@temporalio/workflow';
import type { Circumstances, ElsewhereAnswer, LookUpAnswer, LookUpInput } from '../../contract/order/activities.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { answersWithin, failureOf, readOnly } from '../activity-calls.js';
import { closeWithoutOrder } from '../order/end.js';
import { clearAttention, raiseAttention } from '../order/show.js';
import { notePayers, type OrderRun } from '../order/state.js';
import { type AskMore, isElsewhere, untilSameAccount } from './elsewhere.js';
import { isToldUnserved, type Schedule, untilServed } from './until-served.js';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [60_000, 3_600_000];

/** How a question about an order is put: what its activity is called in the UI, and what is special about it. */
export interface Asking extends Pick<ActivityOptions, 'summary' | 'activityId'> {
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
type Answer = Circumstances & { kind: string; said?: string };

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
  run.lastLookupAtMs = Date.now();
  endSilence(run);
  return answer;
}

/** One reading of the order by a signed look-up: of the order that is known, of `orderUuid`, or of what has our id. */
export function lookUp(run: OrderRun, { orderUuid, ...question }: Asking & { orderUuid?: string }) {
  const input = (): LookUpInput => ({
    type: run.type,
    account: run.account,
    request: run.request,
    orderUuid: orderUuid ?? run.order?.order_uuid,
    known: run.order && true,
    sentTo: run.sentTo,
  });
  return askForReading<LookUpAnswer>(run, question, ({ lookUpOrder }, more) => lookUpOrder({ ...input(), ...more }));
}

/** Kinds that show an order under our id where it was asked for. */
const SHOWN = ['accepted', 'adopted', 'found'];

/**
 * Keeps what an answer tells besides its `kind`. `sentTo` is kept only after a possible send or once the order was seen;
 * before that the account asked may be the wrong one.
 */
export function noteAnswer(run: OrderRun, answer: Answer, mayHaveSent = false): void {
  run.pace = answer.pace;
  run.answeredIn = answer.runId ?? run.answeredIn;
  if (mayHaveSent || SHOWN.includes(answer.kind)) run.sentTo ??= answer.sentTo;
  notePayers(run, answer.payers);
  if (answer.kind === 'absent') run.statusSaid = answer.said;
}

/**
 * Repeats a question whose activity ended for good (an operator failed it, a bug): an order whose outcome is open must not
 * end because a question could not be asked. Ever more slowly: each time costs history.
 */
async function untilAnswered<T>(run: OrderRun, options: ActivityOptions, put: Schedule<T>): Promise<T> {
  let said: string | undefined;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      const answer = await untilServed(run, options, put);
      clearAttention(run, said);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      said = `the activity ${error.activityType} failed for good; it is asked again, once an hour at least`;
      raiseAttention(run, said);
      await sleep(waitMs);
    }
  }
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

const NO_READING = 'the service gives no clear answer about this order; it is asked again until it does';

/** Tells a person that the service is silent about this order; not where nobody asks it. */
export function raiseSilence(run: OrderRun): void {
  if (!isToldUnserved(run)) raiseAttention(run, NO_READING);
}

/** Takes that back: the service has spoken. */
export const endSilence = (run: OrderRun): void => clearAttention(run, NO_READING);

async function withAlarm<T>(run: OrderRun, pending: Promise<T>, delayMs = 0): Promise<T> {
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS))) raiseSilence(run);
  const answer = await pending;
  endSilence(run);
  return answer;
}
