import { getHeapStatistics } from 'node:v8';
import { Runtime, type WorkerOptions } from '@temporalio/worker';
import { type Account, GroupedLookUps, SharedRates } from '../activities/index.js';
import { pinOfConfig } from '../config/accounts.js';
import type { AccountConfig } from '../config.js';
import { Limiter } from '../payment-service/limiter.js';
import { type SmallPage, smallPageNote } from '../payment-service/paging.js';
import type { Transport } from '../payment-service/transport.js';
import { openService } from '../preflight/open-service.js';

/** Maximum wait of a create for rates. Without them, the checks are skipped. */
const RATES_TIMEOUT_MS = 5_000;

/** Opens every configured account. Throws ConfigError if a signer cannot be loaded. */
export async function openAccounts(
  configs: ReadonlyMap<string, AccountConfig>,
  transport?: Transport,
): Promise<Map<string, Account>> {
  const accounts = await Promise.all([...configs.values()].map((config) => openAccount(config, transport)));
  return new Map(accounts.map((account) => [account.name, account]));
}

async function openAccount(config: AccountConfig, transport?: Transport): Promise<Account> {
  const limiter = new Limiter(config.requestsPerSecond);
  const onSmallPage = (operation: string, small: SmallPage) =>
    Runtime.instance().logger.warn(`${operation}: ${smallPageNote(small)}`, { account: config.name });
  const service = await openService(config, { limiter, onSmallPage, transport });
  const { notExecutedStatuses, formatChecks, canary } = config;
  const rates = new SharedRates(() => service.rates({ timeoutMs: RATES_TIMEOUT_MS }));
  return {
    service,
    lookUps: new GroupedLookUps(service, { mostWaiting: MOST_WAITING }),
    ...pinOfConfig(config),
    rates,
    limiter,
    ...(notExecutedStatuses && { notExecutedStatuses }),
    ...(formatChecks && { formatChecks }),
    ...(canary && { canary }),
  };
}

/** Seconds of the limit whose creates wait in a worker. Others wait at the server, by priority. */
const WAITING_S = 1.5;

/** Returns the slots of the create queue's worker; {} without a limit. */
export const createSlots = (requestsPerSecond: number | undefined): { maxConcurrentActivityTaskExecutions?: number } =>
  requestsPerSecond === undefined
    ? {}
    : { maxConcurrentActivityTaskExecutions: Math.max(2, Math.ceil(requestsPerSecond * WAITING_S)) };

/** Memory of a worker process without orders (MiB), and per cached order. */
const MEMORY_MIB = { process: 250, order: 0.43 };

/** Cached orders of a process with 512 MB, and the maximum. */
const CACHED_ORDERS = { least: 600, most: 3_000 };

/** Returns how many orders a process caches, by Node's heap limit. */
export function cachedOrders(heapBytes = getHeapStatistics().heap_size_limit): number {
  const fitting = Math.floor((heapBytes / 2 ** 20 - MEMORY_MIB.process) / MEMORY_MIB.order);
  return Math.min(Math.max(fitting, CACHED_ORDERS.least), CACHED_ORDERS.most);
}

/** Slots for look-ups. A waiting poll is only a promise: 5,000 orders take about 500. */
const LOOKUPS_AT_ONCE = 500;

/** Maximum pollers per queue. More than the idle ones run only while tasks wait. */
const QUEUE_POLLERS = 20;

/** Idle polls that the account queues share, and maximum per queue. */
const IDLE_POLLS = { process: 20, queue: 5 };

/** Returns idle pollers per queue. Without one, a task goes through the server's database. */
const idlePolls = (accounts: number): number =>
  Math.max(1, Math.min(Math.floor(IDLE_POLLS.process / (2 * accounts)), IDLE_POLLS.queue));

/** The minimum is also the initial number: the server only reduces what it has increased. */
export const pollers = (idle: number) =>
  ({ type: 'autoscaling', minimum: idle, initial: idle, maximum: QUEUE_POLLERS }) as const;

/** Constant number of polls for workflow tasks. */
const WORKFLOW_POLLS = 7;

/** Share of polls for any worker's tasks. A worker that cannot run one fails it once per poll. */
const SHARED_WORKFLOW_POLLS = 0.3;

/**
 * Returns the options of the workflow queue, which has few activities: batches, reads, decisions.
 */
export const ordersCapacity = () =>
  ({
    maxCachedWorkflows: cachedOrders(),
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: WORKFLOW_POLLS },
    nonStickyToStickyPollRatio: SHARED_WORKFLOW_POLLS,
    activityTaskPollerBehavior: pollers(1),
  }) satisfies Partial<WorkerOptions>;

/** Look-ups that may wait for others. The rest is for callbacks. */
const MOST_WAITING = 0.8 * LOOKUPS_AT_ONCE;

/** Returns the options of an account's look-up queue. */
export const lookupsCapacity = (accounts: number) =>
  ({
    maxConcurrentActivityTaskExecutions: LOOKUPS_AT_ONCE,
    activityTaskPollerBehavior: pollers(idlePolls(accounts)),
  }) satisfies Partial<WorkerOptions>;

/** Returns the options of its create queue. */
export const createsCapacity = (accounts: number) =>
  ({ activityTaskPollerBehavior: pollers(idlePolls(accounts)) }) satisfies Partial<WorkerOptions>;
