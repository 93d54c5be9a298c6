import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  condition,
} from '@temporalio/workflow';
import { createTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../contract/names.js';
import { CHECK_TIMEOUT_MS } from '../contract/signature.js';

/** How workflows run activities, and how they wait for them. Retries live here and nowhere else. */

/** An attempt must end well before the server gives it up: HTTP total 20 s, attempt deadline 50 s, this 60 s. */
export const CREATE_TIMEOUT_MS = 60_000;

/** One request from its write to its end (HTTP total 20 s), with a margin: a send begun at the last moment is over by then. */
export const SEND_TIMEOUT_MS = 25_000;

/**
 * Creates: ONE attempt. A create whose worker died may have reached the service, so the server must never repeat it;
 * whether it is sent again is decided by `nextAction` (`create/next-action.ts`) alone. Cancellation reaches an attempt only while
 * no worker has started it, which proves that nothing was sent; one that runs is left to end.
 */
export const moneyMoving = (account: string): ActivityOptions => ({
  taskQueue: createTaskQueue(account),
  startToCloseTimeout: CREATE_TIMEOUT_MS,
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** True for the options of creates: of anything else, a lost attempt may simply be made again. */
export const isMoneyMoving = ({ retry }: ActivityOptions): boolean => retry?.maximumAttempts === 1;

/** Signed reads, repeated without history or schedule-to-close timeout: an order is looked for until it is found. */
export const readOnly = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * A check that asks nobody, for a person who waits, on the queue that only workers of the account poll. It ends, refused, when
 * none is there: an answer to somebody who has gone must come neither late nor never, and an open one holds up the run's end.
 */
export const quickCheck = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: CHECK_TIMEOUT_MS,
  retry: { initialInterval: '1s', backoffCoefficient: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  priority: { priorityKey: 1 },
  summary: 'Who signed this?',
});

/** A signed read that only tells more about something else, and is not waited for for long. */
export const shortly = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '40s',
  retry: { initialInterval: '10s' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: 'Why is there no answer?',
});

/** All activities of a batch are repeated for ever: none sends money itself, and each goes on where it was. */
const batch: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  // An interrupted chunk hands its progress back, which must be waited for.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/** Reads every row of a file: as long as it takes, with a sign of life. */
export const wholeFile: ActivityOptions = { ...batch, startToCloseTimeout: '6h', heartbeatTimeout: '30s' };

/** A chunk of sending: seconds, so a worker that died is noticed soon. */
export const sendingChunk: ActivityOptions = { ...batch, startToCloseTimeout: '10m', heartbeatTimeout: '10s' };

/** Compares an account on the queue that no limit of the service slows; begun anew, it repeats nothing that matters. */
export const wholeAccount: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
};

/** Looks again and again until it knows: between two looks nobody's slot is taken, however long an approval is. */
export const untilKnown: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  startToCloseTimeout: '2m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
};

/** Watches a promise: tells whether it has ended by now, well or badly. How it ended is for whoever awaits it. */
export function watch(pending: Promise<unknown>): () => boolean {
  let ended = false;
  const end = () => {
    ended = true;
  };
  pending.then(end, end);
  return () => ended;
}

/** Summary of the timer after which attention is raised. */
export const ALARM = 'Reminder if unanswered for 15 min';

/** True when a promise ends within that time; otherwise it goes on. One timer, which `summary` names. */
export const answersWithin = (pending: Promise<unknown>, timeoutMs: number, summary: string): Promise<boolean> =>
  condition(watch(pending), timeoutMs, { summary });

/** Awaits what `act` does; `cancel` is called, and awaited, when `isCancelled` comes true before that has ended. */
export async function cancellable<T>(
  act: () => Promise<T>,
  isCancelled: () => boolean,
  cancel: () => Promise<void> | void,
): Promise<T> {
  let ended = false;
  const cancelling = condition(() => ended || isCancelled()).then(() => (ended ? undefined : cancel()));
  try {
    return await act();
  } finally {
    ended = true;
    await cancelling;
  }
}

/** The failure of ours that an activity ended with; undefined for a time-out, a cancellation and everything else. */
export const failureOf = (error: unknown): ApplicationFailure | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : undefined;
