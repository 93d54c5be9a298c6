import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  condition,
  sleep,
} from '@temporalio/workflow';
import {
  BRAKE_PRIORITY,
  createTaskQueue,
  eventsTaskQueue,
  lookupTaskQueue,
  ORDERS_TASK_QUEUE,
} from '../contract/names.js';
import { CREATE_TIMEOUT_MS } from '../contract/order/activities.js';
import { CHECK_TIMEOUT_MS } from '../contract/signature.js';

/** Options of a create: one attempt, which may send. Only `nextAction` permits another. */
export const moneyMoving = (account: string): ActivityOptions => ({
  taskQueue: createTaskQueue(account),
  startToCloseTimeout: CREATE_TIMEOUT_MS,
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

export const isMoneyMoving = ({ retry }: ActivityOptions): boolean => retry?.maximumAttempts === 1;

/** Signed reads, repeated without history until they answer. */
export const readOnly = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** A check for a person who waits. It is refused if no worker answers in time. */
export const quickCheck = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: CHECK_TIMEOUT_MS,
  retry: { initialInterval: '1s', backoffCoefficient: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  priority: { priorityKey: BRAKE_PRIORITY },
  summary: 'Who signed this?',
});

/** A signed read about a silence, with a short limit. */
export const shortly = (account: string): ActivityOptions => ({
  taskQueue: lookupTaskQueue(account),
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '40s',
  retry: { initialInterval: '10s' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: 'Why is there no answer?',
});

/** Batch activities are repeated for ever: none sends money itself. */
const batch: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  // An interrupted chunk returns its progress.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

export const wholeFile: ActivityOptions = { ...batch, startToCloseTimeout: '6h', heartbeatTimeout: '30s' };

/** Sends a chunk. Short, so that a dead worker is noticed soon. */
export const sendingChunk: ActivityOptions = { ...batch, startToCloseTimeout: '10m', heartbeatTimeout: '10s' };

/** Compares an account on a queue without a rate limit. May be repeated. */
export const wholeAccount: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
};

/** Delivers one event, on a queue of its receiver. Repeated without history within the limit. */
export const delivering = (receiver: string, summary: string, limit: '1h' | '71h'): ActivityOptions => ({
  taskQueue: eventsTaskQueue(receiver),
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: limit,
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: limit === '1h' ? '5m' : '1h' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary,
});

/** Looks until it knows, without a slot between two looks. */
export const untilKnown: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  startToCloseTimeout: '2m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
};

export function watch(pending: Promise<unknown>): () => boolean {
  let ended = false;
  const end = () => {
    ended = true;
  };
  pending.then(end, end);
  return () => ended;
}

/** Runs `act`, and cancels it once it is over. Returns or throws what it results in. */
export async function untilOver<T>(act: () => Promise<T>, isOver: () => boolean): Promise<T> {
  const scope = new CancellationScope();
  const pending = scope.run(act);
  const ended = watch(pending);
  await condition(() => ended() || isOver());
  if (!ended()) scope.cancel();
  return pending;
}

export const ALARM = 'Reminder if unanswered for 15 min';

/** Returns true if a promise ends in time. Costs one timer with `summary`. */
export const answersWithin = (pending: Promise<unknown>, timeoutMs: number, summary: string): Promise<boolean> =>
  condition(watch(pending), timeoutMs, { summary });

/** Awaits `act`. If `isCancelled` becomes true before, calls and awaits `cancel`. */
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

/** Readings over a settle window that prove absence. */
const READINGS = 3;

/** Repeats a reading, spread over a window, until it is not absent or the whole window is read. */
export async function readOverWindow<T>(
  read: () => Promise<T>,
  isAbsent: (reading: T) => boolean,
  windowOf: (reading: T) => number,
): Promise<T> {
  const startedAtMs = Date.now();
  for (let readings = 1; ; readings += 1) {
    const askedAtMs = Date.now();
    const reading = await read();
    const windowMs = windowOf(reading);
    const isOver = readings >= READINGS && askedAtMs - startedAtMs >= windowMs;
    if (!isAbsent(reading) || isOver) return reading;
    await sleep(Math.ceil(windowMs / (READINGS - 1)), { summary: 'Not shown: it may only be late' });
  }
}

/** Returns our own failure of an activity; undefined for time-outs, cancellations and others. */
export const failureOf = (error: unknown): ApplicationFailure | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : undefined;
