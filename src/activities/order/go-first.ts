import { getClient } from '@temporalio/activity';
import { startUnlessTaken } from '../../client/temporal-calls.js';
import {
  CANARY_WORKFLOW,
  canaryWorkflowId,
  fundsLineWorkflowId,
  GO_FIRST_SIGNAL,
  ORDERS_TASK_QUEUE,
  searchAttribute,
} from '../../contract/names.js';
import type { Pace } from '../../contract/order/activities.js';
import type { canary } from '../../workflows/canary.js';
import type { Account } from '../deps.js';

/** Shortest interval, in ms. Windows are that short in tests only. */
const SHORTEST_MS = 500;

const partOf = ({ settleWindowMs: { atOnce } }: Pace, parts: number, mostMs: number): number =>
  Math.min(mostMs, Math.max(SHORTEST_MS, atOnce / parts));

/**
 * Returns how often an order in doubt checks whether a later order was accepted (costs no request),
 * and how often it reads whether the service shows that order.
 */
export const betweenMs = (pace: Pace): Record<'acceptance' | 'reading', number> => ({
  acceptance: partOf(pace, 60, 10_000),
  reading: partOf(pace, 10, 60_000),
});

/** What a worker knows about the orders of an account that wait for a later one. Times: performance.now. */
export interface FirstSends {
  /** Since when one or another of them waits. */
  sinceMs: number;
  /** When one of them asked last. */
  askedAtMs: number;
  /** Nobody is asked to go first before. */
  nextAtMs: number;
}

/**
 * Asks somebody to go first, since an order in doubt waits for a later one: the line of orders that
 * wait for funds and, if nobody unsent went for a while, the canary. Rows of a batch go by themselves.
 */
export async function letSomebodyGoFirst(account: Account, orderId: string, pace: Pace): Promise<void> {
  const nowMs = performance.now();
  const { reading: patienceMs } = betweenMs(pace);
  const before = account.firstSends;
  // Without a question for a while, everybody had a later order.
  const isNew = !before || nowMs - before.askedAtMs > 2 * patienceMs;
  const state: FirstSends = isNew ? { sinceMs: nowMs, askedAtMs: nowMs, nextAtMs: nowMs } : before;
  account.firstSends = state;
  state.askedAtMs = nowMs;
  if (nowMs < state.nextAtMs) return;
  state.nextAtMs = nowMs + patienceMs;
  const client = getClient();
  // Nobody may wait for funds.
  const line = client.workflow.getHandle(fundsLineWorkflowId(account.name));
  await line.signal(GO_FIRST_SIGNAL).catch(() => undefined);
  const { canary: setting, limiter, name } = account;
  if (!setting || nowMs - state.sinceMs < patienceMs || limiter.isCreating) return;
  const { countsFor: _, ...deposit } = setting;
  // One is open for a window, whichever worker started it.
  await startUnlessTaken<typeof canary>(client, CANARY_WORKFLOW, {
    workflowId: canaryWorkflowId(name),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ ...deposit, account: name, orderId, windowMs: pace.settleWindowMs.atOnce }],
    typedSearchAttributes: [{ key: searchAttribute.account, value: name }],
    staticSummary: `canary of account ${name}`,
  });
}
