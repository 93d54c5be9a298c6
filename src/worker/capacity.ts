import { getHeapStatistics } from 'node:v8';
import type { WorkerOptions } from '@temporalio/worker';

/** MiB that a worker process takes without orders, and for each order that it keeps. */
const MEMORY_MIB = { process: 250, order: 0.43 };

/** Orders that a process of 512 MB keeps, and the most that any keeps. */
const CACHED_ORDERS = { least: 600, most: 3_000 };

/** Returns how many orders a process keeps in memory, by the heap that Node.js may use. */
export function cachedOrders(heapBytes = getHeapStatistics().heap_size_limit): number {
  const fitting = Math.floor((heapBytes / 2 ** 20 - MEMORY_MIB.process) / MEMORY_MIB.order);
  return Math.min(Math.max(fitting, CACHED_ORDERS.least), CACHED_ORDERS.most);
}

/** A poll waits for others to be asked with it, so that a slot is a promise and no request: 5,000 waiting orders take about 500. */
const LOOKUPS_AT_ONCE = 500;

/** Enough for what one process does on a queue; more polls are open only while tasks wait. */
const QUEUE_POLLERS = 20;

/** Polls that the queues of a process's accounts share while nothing happens, and those of one queue at most. */
const IDLE_POLLS = { process: 20, queue: 5 };

/** Idle pollers per queue: without one a task goes through the server's database first. */
const idlePolls = (accounts: number): number =>
  Math.max(1, Math.min(Math.floor(IDLE_POLLS.process / (2 * accounts)), IDLE_POLLS.queue));

/** The least number is the first one, too: the server takes back only what it has asked for. */
const pollers = (idle: number) =>
  ({ type: 'autoscaling', minimum: idle, initial: idle, maximum: QUEUE_POLLERS }) as const;

/** Polls for workflow tasks, whatever happens. */
const WORKFLOW_POLLS = 7;

/** Share of polls for any worker's tasks: a worker that cannot run one fails it once per poll. */
const SHARED_WORKFLOW_POLLS = 0.3;

/** Returns how the queue of the workflows is worked on. Activities are few on it: batches, reads, decisions. */
export const ordersCapacity = () =>
  ({
    maxCachedWorkflows: cachedOrders(),
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: WORKFLOW_POLLS },
    nonStickyToStickyPollRatio: SHARED_WORKFLOW_POLLS,
    activityTaskPollerBehavior: pollers(1),
  }) satisfies Partial<WorkerOptions>;

/** Look-ups of an account that may wait for each other; the other slots are for what a callback is about. */
export const MOST_WAITING = 0.8 * LOOKUPS_AT_ONCE;

/** Returns how the look-ups of an account, one of so many, are worked on. */
export const lookupsCapacity = (accounts: number) =>
  ({
    maxConcurrentActivityTaskExecutions: LOOKUPS_AT_ONCE,
    activityTaskPollerBehavior: pollers(idlePolls(accounts)),
  }) satisfies Partial<WorkerOptions>;

/** Deliveries to one receiver at a time. */
const DELIVERIES_AT_ONCE = 10;

/** Returns how the deliveries to a receiver are worked on. */
export const deliveriesCapacity = () =>
  ({
    maxConcurrentActivityTaskExecutions: DELIVERIES_AT_ONCE,
    activityTaskPollerBehavior: pollers(1),
  }) satisfies Partial<WorkerOptions>;

/** Returns how its creates are worked on. */
export const createsCapacity = (accounts: number) =>
  ({ activityTaskPollerBehavior: pollers(idlePolls(accounts)) }) satisfies Partial<WorkerOptions>;
