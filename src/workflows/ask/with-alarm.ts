import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { clearAttention, raiseAttention } from '../order/attention.js';
import type { OrderRun } from '../order/run.js';
import { answersWithin } from './answers-within.js';
import { keepAsking, type ReadOptions } from './keep-asking.js';
import { isToldUnserved, type Schedule } from './until-served.js';

const NO_READING = 'the service gives no clear answer about this order; it is asked again until it does';

/** Tells a person that the service is silent about this order; not where nobody asks it. */
export function raiseSilence(run: OrderRun): void {
  if (!isToldUnserved(run)) raiseAttention(run, NO_READING);
}

/** The service has spoken. */
export function endSilence(run: OrderRun): void {
  if (run.attention?.reason === NO_READING) clearAttention(run);
}

/** Awaits a read; a person is told when it takes longer than a quarter of an hour. One timer: not for the normal path. */
export async function withAlarm<T>(run: OrderRun, pending: Promise<T>, delayMs = 0): Promise<T> {
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS))) raiseSilence(run);
  const answer = await pending;
  endSilence(run);
  return answer;
}

/** As `keepAsking`, for what is read about an order that has ended. */
export function keepAskingWithAlarm<T>(run: OrderRun, read: ReadOptions, ask: Schedule<T>): Promise<T> {
  return withAlarm(run, keepAsking(run, read, ask));
}
