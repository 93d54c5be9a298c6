import { type Env, optional, type Problems } from './env.js';
import type { Variable } from './variables.js';

/** How much a worker process takes on at once; what is unset is the worker's to say. */
export interface Capacity {
  /** Orders, and other workflows, whose state is kept in memory. */
  cachedOrders?: number;
  /** Look-ups of one account that are under way, those that wait to be asked together included. */
  lookupsAtOnce?: number;
  /** Polls that a queue of Temporal's may have open, in a process. */
  queuePollers?: number;
}

/** Reads what a worker process takes on; {} when nothing is said. */
export function readCapacity(env: Env, problems: Problems): Capacity {
  const cachedOrders = count(env, 'ORDER_CACHE_SIZE', { least: 10, most: 100_000 }, problems);
  const lookupsAtOnce = count(env, 'ORDER_LOOKUPS_AT_ONCE', { least: 1, most: 100_000 }, problems);
  const queuePollers = count(env, 'ORDER_QUEUE_POLLERS', { least: 1, most: 100 }, problems);
  return {
    ...(cachedOrders !== undefined && { cachedOrders }),
    ...(lookupsAtOnce !== undefined && { lookupsAtOnce }),
    ...(queuePollers !== undefined && { queuePollers }),
  };
}

function count(
  env: Env,
  name: Variable,
  { least, most }: { least: number; most: number },
  problems: Problems,
): number | undefined {
  const read = (text: string) =>
    /^[1-9]\d{0,5}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;
  return optional(env, name, problems, read, `must be a whole number from ${least} to ${most}`);
}
