import { getClient, log } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { listRuns } from '../../client/pages.js';
import { acceptedIn } from '../../client/sent-earlier.js';
import { startUnlessTaken } from '../../client/temporal-calls.js';
import {
  CANARY_WORKFLOW,
  canaryWorkflowId,
  endedAfterTerm,
  fundsLineWorkflowId,
  GO_FIRST_SIGNAL,
  hasFormOf,
  isFormOfId,
  ORDERS_TASK_QUEUE,
  quoted,
  quotedTime,
  searchAttribute,
} from '../../contract/names.js';
import { type Pace, windowOf } from '../../contract/order/activities.js';
import type { CanaryInput } from '../../contract/order/canary.js';
import { FOLLOW_UP_TYPES, ORDER_TYPES, type OrderType, workflowTypeOf } from '../../contract/order/types.js';
import type { canary } from '../../workflows/create/canary.js';
import type { Account } from '../deps.js';
import { nextTurnMs } from '../spacing.js';
import { depositsCount, LATER_BY, YOUNGEST } from './witnesses.js';

/** Shortest interval, in ms. Windows are that short in tests only. */
const SHORTEST_MS = 500;

const partOf = ({ settleWindowMs: { atOnce } }: Pace, parts: number, mostMs: number): number =>
  Math.min(mostMs, Math.max(SHORTEST_MS, atOnce / parts));

type AskedFor = 'acceptance' | 'reading';

/**
 * Returns how often an order in doubt checks whether a later order was accepted (costs no request),
 * and how often it reads whether the service shows that order.
 */
const betweenMs = (pace: Pace): Record<AskedFor, number> => ({
  acceptance: partOf(pace, 20, 10_000),
  reading: partOf(pace, 10, 60_000),
});

/** Questions a second of an account's orders in doubt: many of them ask less often. */
const QUESTIONS_A_SECOND = 20;

/** Returns when an order in doubt asks again, in ms: each has a turn of its own. */
export function untilAskedAgainMs(account: Pick<Account, 'questions'>, kind: AskedFor, pace: Pace): number {
  account.questions ??= { acceptance: { atMs: 0 }, reading: { atMs: 0 } };
  return nextTurnMs(account.questions[kind], betweenMs(pace)[kind], 1_000 / QUESTIONS_A_SECOND);
}

/** Orders of an account that wait for a later one. Times: performance.now, but for `fromMs`. */
interface FirstSends {
  /** Since when one or another of them waits. */
  sinceMs: number;
  /** The earliest `fromMs` of them, so that none waits behind the one that asks. */
  fromMs: number;
  /** When one of them asked last. */
  askedAtMs: number;
  /** Nobody is asked to go first before. */
  nextAtMs: number;
}

/** By whether a canary counts for them. */
export type FirstSendsByCanary = Map<boolean, FirstSends>;

/** Order in doubt that waits for a later one, which is sent after `fromMs`. */
interface Waiting {
  orderId: string;
  type: OrderType;
  fromMs: number;
}

/**
 * Looks for a later order that another process got accepted; returns true if it finds a new one.
 * Else asks somebody to go first: the line of funds and, if nobody unsent went, the canary.
 */
export async function letSomebodyGoFirst(account: Account, waiting: Waiting, pace: Pace): Promise<boolean> {
  const nowMs = performance.now();
  const { reading: patienceMs } = betweenMs(pace);
  const { canary: setting, limiter, name } = account;
  const depositCounts = depositsCount(waiting.type, setting?.countsFor);
  account.firstSends ??= new Map();
  const before = account.firstSends.get(depositCounts);
  // Without a question for a while, everybody had a later order.
  const isNew = !before || nowMs - before.askedAtMs > 2 * patienceMs;
  const { fromMs } = waiting;
  const state: FirstSends = isNew ? { sinceMs: nowMs, fromMs, askedAtMs: nowMs, nextAtMs: nowMs } : before;
  account.firstSends.set(depositCounts, state);
  state.askedAtMs = nowMs;
  state.fromMs = Math.min(state.fromMs, fromMs);
  if (nowMs < state.nextAtMs) return false;
  state.nextAtMs = nowMs + patienceMs;
  const client = getClient();
  const earliest = { ...waiting, fromMs: state.fromMs };
  const isFound = await learnAccepted(client, account, earliest, windowOf(pace, waiting.type)).catch(() => false);
  if (isFound) return true;
  // Nobody may wait for funds.
  const line = client.workflow.getHandle(fundsLineWorkflowId(name));
  await line.signal(GO_FIRST_SIGNAL).catch(() => undefined);
  if (!setting || !depositCounts || nowMs - state.sinceMs < patienceMs) return false;
  // A remembered stop is asked for again: nobody else may ask.
  if (limiter.isCreating || (await account.stops?.stillWhy())) return false;
  const { countsFor: _, ...deposit } = setting;
  const options = {
    workflowId: canaryWorkflowId(name),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ ...deposit, account: name, orderId: waiting.orderId, windowMs: pace.settleWindowMs.atOnce }] as [
      CanaryInput,
    ],
    typedSearchAttributes: [{ key: searchAttribute.account, value: name }],
    staticSummary: `canary of account ${name}`,
  };
  // One is open for a window, whichever worker started it.
  try {
    const started = await startUnlessTaken<typeof canary>(client, CANARY_WORKFLOW, options);
    if (started) log.info('a canary goes first', { account: name, runId: started.firstExecutionRunId });
  } catch (error) {
    log.warn('no canary was started', { account: name, error });
  }
  return false;
}

/** Newest orders that are read, closed and open, and how many accepted ones are enough. */
const [MOST_READ, ENOUGH] = [20, 2];

/**
 * Records orders that other processes, or this one before it was killed, got accepted late enough.
 * Returns false if Temporal shows no new ones.
 */
async function learnAccepted(client: Client, account: Account, waiting: Waiting, windowMs: number): Promise<boolean> {
  const { orderId, type, fromMs } = waiting;
  const types = (depositsCount(type, account.canary?.countsFor) ? ORDER_TYPES : FOLLOW_UP_TYPES).map((one) =>
    quoted(workflowTypeOf(one)),
  );
  const provesFromMs = fromMs + LATER_BY * windowMs;
  const query = [
    `${searchAttribute.account.name} = ${quoted(account.name)} AND WorkflowType IN (${types.join(', ')})`,
    `StartTime < ${quotedTime(Date.now() - YOUNGEST * windowMs)}`,
    `${searchAttribute.orderStatus.name} NOT IN ('uncertain', 'parked', 'short', 'none', 'unresolved')`,
  ].join(' AND ');
  // The one that went first may have been started long ago. Open orders would fill a list of both.
  const states = [endedAfterTerm(provesFromMs), `ExecutionStatus = 'Running'`];
  const pages = await Promise.all(
    states.map((state) => listRuns(client, { query: `${query} AND ${state}`, pageSize: MOST_READ })),
  );
  let found = 0;
  let isNew = false;
  for (const run of pages.flatMap(({ runs }) => runs)) {
    // A run that cannot be read, whyever, shows no later order.
    const accepted = await acceptedIn(client, run).catch(() => undefined);
    if (accepted?.sentTo.account !== account.id || isFormOfId(accepted.order.user_order_id, orderId)) continue;
    const wasUnknown = account.lookUps.witnesses.noteAcceptedElsewhere(accepted.order, accepted.sentAtMs);
    // Others may prove something for another order, but not for the one that asks.
    if (accepted.sentAtMs < provesFromMs || !hasFormOf(accepted.order.user_order_id, orderId)) continue;
    if (wasUnknown) isNew = true;
    found += 1;
    if (found === ENOUGH) break;
  }
  return isNew;
}
