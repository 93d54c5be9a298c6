import { type Env, optional, type Problems } from './env.js';
import type { Variable } from './variables.js';

/** How much a worker process takes on at once; what is unset is the worker's to say. */
export interface Capacity {
  /** Orders, and other workflows, whose state is kept in memory. */
  cachedOrders?: number;
  /** Look-ups of one account that are under way, those that wait to be asked together included. */
  lookupsAtOnce?: number;
}

const MOST = 100_000;

/** Reads what a worker process takes on; {} when nothing is said. */
export function readCapacity(env: Env, problems: Problems): Capacity {
  const cachedOrders = count(env, 'ORDER_CACHE_SIZE', 10, problems);
  const lookupsAtOnce = count(env, 'ORDER_LOOKUPS_AT_ONCE', 1, problems);
  return { ...(cachedOrders !== undefined && { cachedOrders }), ...(lookupsAtOnce !== undefined && { lookupsAtOnce }) };
}

function count(env: Env, name: Variable, least: number, problems: Problems): number | undefined {
  const read = (text: string) =>
    /^[1-9]\d{0,5}$/.test(text) && Number(text) >= least && Number(text) <= MOST ? Number(text) : undefined;
  return optional(env, name, problems, read, `must be a whole number from ${least} to ${MOST}`);
}
