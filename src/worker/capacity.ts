import type { WorkerOptions } from '@temporalio/worker';
import type { Capacity } from '../config.js';

/** A worker process with as many stays below 512 MB; what is more is dropped, and replayed when something happens to it. */
const CACHED_ORDERS = 600;

/** A poll waits for others to be asked with it, so that a slot is a promise and no request: 5,000 waiting orders take about 500. */
const LOOKUPS_AT_ONCE = 500;

/** Fixed numbers would keep 10 polls open on each of the two queues of an account in every process, most of them in vain. */
const POLLERS = { type: 'autoscaling', minimum: 1, initial: 2, maximum: 20 } as const;

/** How the queue of the workflows is worked on. */
export const ordersCapacity = ({ cachedOrders = CACHED_ORDERS }: Capacity) =>
  ({
    maxCachedWorkflows: cachedOrders,
    activityTaskPollerBehavior: POLLERS,
  }) satisfies Partial<WorkerOptions>;

/** Of the slots for look-ups those that wait for others hold no more: somebody waits for what a callback is about. */
const WAITING_SHARE = 0.8;

/** Look-ups of an account that may wait for each other. */
export const mostWaiting = ({ lookupsAtOnce = LOOKUPS_AT_ONCE }: Capacity): number =>
  Math.floor(WAITING_SHARE * lookupsAtOnce);

/** How the look-ups of an account are. */
export const lookupsCapacity = ({ lookupsAtOnce = LOOKUPS_AT_ONCE }: Capacity) =>
  ({
    maxConcurrentActivityTaskExecutions: lookupsAtOnce,
    activityTaskPollerBehavior: POLLERS,
  }) satisfies Partial<WorkerOptions>;

/** How its creates are. */
export const createsCapacity = { activityTaskPollerBehavior: POLLERS } satisfies Partial<WorkerOptions>;
