import type { WorkerOptions } from '@temporalio/worker';
import type { Capacity } from '../config.js';

/** A worker process with as many stays below 512 MB; what is more is dropped, and replayed when something happens to it. */
const CACHED_ORDERS = 600;

/** A poll waits for others to be asked with it, so that a slot is a promise and no request: 5,000 waiting orders take about 500. */
const LOOKUPS_AT_ONCE = 500;

/** Enough for what one process does on a queue; a server that is far away needs more. */
const QUEUE_POLLERS = 20;

/** Polls that the queues of a process's accounts share while nothing happens, and those of one queue at most. */
const IDLE_POLLS = { process: 20, queue: 5 };

/**
 * Polls that a queue has open while nothing happens. A task that no poll waits for is written to the server's database first: with one
 * poll two of an order's six tasks, with five hardly any. Of many accounts each queue has one, or their polls would burden the server.
 */
const idlePolls = (accounts: number): number =>
  Math.max(1, Math.min(Math.floor(IDLE_POLLS.process / (2 * accounts)), IDLE_POLLS.queue));

/** The least number is the first one, too: the server takes back only what it has asked for. More are open while tasks wait. */
function pollers({ queuePollers = QUEUE_POLLERS }: Capacity, idle: number) {
  const minimum = Math.min(idle, queuePollers);
  return { type: 'autoscaling', minimum, initial: minimum, maximum: queuePollers } as const;
}

/** Polls for workflow tasks, for each poll that a queue may have: seven of twenty, whatever happens. */
const WORKFLOW_POLLS = 0.35;

/**
 * Of them those for tasks that any worker may take, two of seven. The server gives such a task to the poll that has waited longest: a worker
 * that cannot run it, of an older version or with wrong keys, fails it once for each of its polls. The others are for the process's own orders.
 */
const SHARED_WORKFLOW_POLLS = 0.3;

/** How the queue of the workflows is worked on. Activities are few on it: batches, reads, decisions. */
export const ordersCapacity = (capacity: Capacity) =>
  ({
    maxCachedWorkflows: capacity.cachedOrders ?? CACHED_ORDERS,
    workflowTaskPollerBehavior: {
      type: 'simple-maximum',
      maximum: Math.ceil(WORKFLOW_POLLS * (capacity.queuePollers ?? QUEUE_POLLERS)),
    },
    nonStickyToStickyPollRatio: SHARED_WORKFLOW_POLLS,
    activityTaskPollerBehavior: pollers(capacity, 1),
  }) satisfies Partial<WorkerOptions>;

/** Of the slots for look-ups those that wait for others hold no more: somebody waits for what a callback is about. */
const WAITING_SHARE = 0.8;

/** Look-ups of an account that may wait for each other. */
export const mostWaiting = ({ lookupsAtOnce = LOOKUPS_AT_ONCE }: Capacity): number =>
  Math.floor(WAITING_SHARE * lookupsAtOnce);

/** How the look-ups of an account, one of so many, are. */
export const lookupsCapacity = (capacity: Capacity, accounts: number) =>
  ({
    maxConcurrentActivityTaskExecutions: capacity.lookupsAtOnce ?? LOOKUPS_AT_ONCE,
    activityTaskPollerBehavior: pollers(capacity, idlePolls(accounts)),
  }) satisfies Partial<WorkerOptions>;

/** How its creates are. */
export const createsCapacity = (capacity: Capacity, accounts: number) =>
  ({ activityTaskPollerBehavior: pollers(capacity, idlePolls(accounts)) }) satisfies Partial<WorkerOptions>;
