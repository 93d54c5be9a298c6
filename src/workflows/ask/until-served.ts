import {
  ActivityFailure,
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { isMoneyMoving } from '../activity-calls.js';
import { clearAttention, raiseAttention } from '../order/show.js';
import { noRunEverSent, type OrderRun } from '../order/state.js';

/** Schedules an activity. `late`: no worker took it for a quarter of an hour, and a person was told. */
export type Schedule<T> = (activities: ActivityInterfaceFor<Activities>, late: boolean) => Promise<T>;

/** Times that a run tells a person that nobody serves it: each costs history, and an overloaded queue has no end of them. */
const MAX_TOLD = 20;

/**
 * Schedules an activity of an order; when no worker takes it for a quarter of an hour, a person is told until one does.
 * The server counts the time that an attempt waits for a worker, not the time until its next attempt is due. The limit is
 * written to the history only when it is over.
 */
export function untilServed<T>(run: OrderRun, options: ActivityOptions, schedule: Schedule<T>): Promise<T> {
  if (run.timesUnserved >= MAX_TOLD) return schedule(proxyActivities<Activities>(options), false);
  return untilTaken(options, schedule, () => {
    run.timesUnserved += 1;
    const reason = unserved(run);
    raiseAttention(run, reason);
    return () => clearAttention(run, reason);
  });
}

/**
 * Schedules an activity with the limit and, when it is over, once more without one: the server has taken the first one out
 * of the queue, so that nothing of it has run or will run. `tell` returns what takes the telling back.
 */
export async function untilTaken<T>(
  options: ActivityOptions,
  schedule: Schedule<T>,
  tell: () => () => unknown,
): Promise<T> {
  const limited = { ...options, scheduleToStartTimeout: ATTENTION_AFTER_MS };
  try {
    return await schedule(proxyActivities<Activities>(limited), false);
  } catch (error) {
    if (!isUntaken(error, options)) throw error;
  }
  const takeBack = tell();
  return schedule(proxyActivities<Activities>(options), true).finally(takeBack);
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

/** The beginning of every reason that says so; `isToldUnserved` knows them by it. */
const UNSERVED = 'no worker of the account ';

/** True while the attention says that nobody serves the account, which is more than that there is no answer. */
export const isToldUnserved = ({ attention }: OrderRun): boolean => attention?.reason.startsWith(UNSERVED) ?? false;

/** That nobody serves an account, in words. */
export const unservedFor = (account: string): string =>
  `${UNSERVED}${account} has taken what is waited for, for ${ATTENTION_AFTER_MS / 60_000} min`;

function unserved(run: OrderRun): string {
  const what = unservedFor(run.account);
  if (run.phase === 'creating' && noRunEverSent(run)) {
    return `${what}; start one. Nothing was sent: if the account is the wrong one, cancel the order and start it with the right one`;
  }
  return `${what}; start one with the same key. The order may exist: never start it again under another id or account`;
}
