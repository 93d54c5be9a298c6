import { chance } from '../../sandbox/chance.js';

/** What an order costs. */
export interface Costs {
  /** Requests that create an order and confirm its end; polls come on top. */
  requestsPerOrder: number;
  /** Orders that one request asks about. */
  ordersPerPoll: number;
  workerCpuMs: number;
  serverCpuMs: number;
  historyBytes: number;
}

/** A day at one account. */
export interface Day {
  orders: number;
  seed: string;
  /** The account's limit, requests a second. */
  limit: number;
  /** How long an order is open at the service, in minutes. */
  openMinutes: number;
  /** How often a waiting order is asked about, in minutes. */
  pollEveryMinutes: number;
}

/** What an hour came to. */
export interface Hour {
  arrived: number;
  created: number;
  ended: number;
  /** At the end of the hour: not sent yet, and sent but not final. */
  queued: number;
  waiting: number;
  /** How long the order waits that arrives last in it. */
  delayMinutes: number;
  requestsPerSecond: number;
  workerCores: number;
  serverCores: number;
  /** Histories of the day so far. */
  storageGb: number;
}

export const MINUTES = 24 * 60;
/** Share of the hours of a day: a night, a morning, the salaries at ten, an evening. */
const PROFILE = [1, 1, 1, 1, 1, 2, 3, 5, 8, 10, 12, 9, 7, 7, 6, 6, 6, 5, 4, 3, 3, 2, 2, 1];
const PROFILE_SUM = PROFILE.reduce((sum, share) => sum + share, 0);
/** Minutes differ by a fifth to either side. */
const NOISE = 0.2;

/** Orders that arrive in each minute; whole numbers that add up to the day's. */
export function arrivalsOf({ orders, seed }: Pick<Day, 'orders' | 'seed'>): number[] {
  const weights = Array.from({ length: MINUTES }, (_, minute) => {
    const share = (PROFILE[Math.floor(minute / 60)] ?? 0) / PROFILE_SUM / 60;
    return share * (1 + NOISE * (2 * chance(seed, `minute ${minute}`) - 1));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let before = 0;
  let exact = 0;
  return weights.map((weight) => {
    exact += (weight / sum) * orders;
    const count = Math.round(exact) - before;
    before += count;
    return count;
  });
}

/** Requests that asking about so many waiting orders takes in one minute. */
export const pollsOf = (waiting: number, { ordersPerPoll }: Costs, { pollEveryMinutes }: Day): number =>
  waiting === 0 ? 0 : Math.max(waiting / ordersPerPoll, 1) / pollEveryMinutes;

/** Goes through the day minute by minute: polls are asked first, and creates get what the limit leaves. */
export function simulate(day: Day, costs: Costs): Hour[] {
  const hours: Hour[] = [];
  const created: number[] = [];
  let [queued, waiting, total] = [0, 0, 0];
  let hour = { arrived: 0, created: 0, ended: 0, requests: 0 };
  for (const [minute, arrived] of arrivalsOf(day).entries()) {
    const ended = created[minute - day.openMinutes] ?? 0;
    waiting -= ended;
    const polls = pollsOf(waiting, costs, day);
    const room = Math.max(0, day.limit * 60 - polls) / costs.requestsPerOrder;
    const sent = Math.min(queued + arrived, Math.floor(room));
    queued += arrived - sent;
    waiting += sent;
    total += sent;
    created.push(sent);
    hour = {
      arrived: hour.arrived + arrived,
      created: hour.created + sent,
      ended: hour.ended + ended,
      requests: hour.requests + polls + sent * costs.requestsPerOrder,
    };
    if ((minute + 1) % 60 > 0) continue;
    const { requests, ...counts } = hour;
    hours.push({
      ...counts,
      ...{ queued, waiting, delayMinutes: queued === 0 ? 0 : queued / Math.max(room, 1) },
      requestsPerSecond: requests / 3_600,
      workerCores: (counts.created * costs.workerCpuMs) / 3_600_000,
      serverCores: (counts.created * costs.serverCpuMs) / 3_600_000,
      storageGb: (total * costs.historyBytes) / 1e9,
    });
    hour = { arrived: 0, created: 0, ended: 0, requests: 0 };
  }
  return hours;
}

/** A process of Node works on orders with one core, of which it should not use more than two thirds. */
const USABLE_CORE = 2 / 3;

/** Worker processes that an hour wants, two at least: for their CPU, and for keeping the waiting orders in memory. */
export const workersOf = (hours: readonly Hour[]): number =>
  Math.max(2, Math.ceil(Math.max(...hours.map(({ workerCores }) => workerCores)) / USABLE_CORE));
