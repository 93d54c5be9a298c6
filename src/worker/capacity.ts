import type { WorkerOptions } from '@temporalio/worker';
import type { Capacity } from '../config.js';

/** A worker process with as many stays below 512 MB; what is more is dropped, and replayed when something happens to it. */
const CACHED_ORDERS = 600;

/** A poll waits for others to be asked with it, so that a slot is a promise and no request: 5,000 waiting orders take about 500. */
const LOOKUPS_AT_ONCE = 500;

/** Enough for what one process does on a queue; a server that is far away needs more. */
const QUEUE_POLLERS = 20;

/**
 * Each queue has one poll open while nothing happens, and more while the server sees tasks waiting. The first number is the least one:
 * the server takes back only what it has asked for.
 */
const pollers = ({ queuePollers = QUEUE_POLLERS }: Capacity) =>
  ({ type: 'autoscaling', minimum: 1, initial: 1, maximum: queuePollers }) as const;

/** How the queue of the workflows is worked on. */
export const ordersCapacity = (capacity: Capacity) =>
  ({
    maxCachedWorkflows: capacity.cachedOrders ?? CACHED_ORDERS,
    workflowTaskPollerBehavior: pollers(capacity),
    activityTaskPollerBehavior: pollers(capacity),
  }) satisfies Partial<WorkerOptions>;

/** Of the slots for look-ups those that wait for others hold no more: somebody waits for what a callback is about. */
const WAITING_SHARE = 0.8;

/** Look-ups of an account that may wait for each other. */
export const mostWaiting = ({ lookupsAtOnce = LOOKUPS_AT_ONCE }: Capacity): number =>
  Math.floor(WAITING_SHARE * lookupsAtOnce);

/** How the look-ups of an account are. */
export const lookupsCapacity = (capacity: Capacity) =>
  ({
    maxConcurrentActivityTaskExecutions: capacity.lookupsAtOnce ?? LOOKUPS_AT_ONCE,
    activityTaskPollerBehavior: pollers(capacity),
  }) satisfies Partial<WorkerOptions>;

/** How its creates are. */
export const createsCapacity = (capacity: Capacity) =>
  ({ activityTaskPollerBehavior: pollers(capacity) }) satisfies Partial<WorkerOptions>;
