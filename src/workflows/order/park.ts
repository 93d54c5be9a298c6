import { condition } from '@temporalio/workflow';
import type { DecideAction, Decision } from '../../contract/order/messages.js';
import type { Offer } from '../compensation/offers.js';
import { raiseAttention } from './attention.js';
import { recordOf } from './decision.js';
import type { OrderRun } from './run.js';

/**
 * Keeps the workflow open until a person decides. There is no time-out: an order whose outcome is unknown must not
 * close by itself. The decision is kept for the result; the step that acts on it enters the next phase. `offers`: what
 * `finish` and `revert` may mean here.
 */
export async function park(
  run: OrderRun,
  reason: string,
  allowed: DecideAction[],
  offers: readonly Offer[] = [],
): Promise<Decision> {
  run.offers = offers;
  // Without another way out, only a decision ends the wait.
  return (await parkUnless(run, reason, allowed, () => false)) as Decision;
}

/** Like `park`, but also ends, with undefined, when `resolved` says that there is something new to look at. */
export async function parkUnless(
  run: OrderRun,
  reason: string,
  allowed: DecideAction[],
  resolved: () => boolean,
): Promise<Decision | undefined> {
  run.phase = 'parked';
  run.waitingFor = 'a decision';
  run.attention = undefined;
  raiseAttention(run, reason, allowed);
  await condition(() => run.decision !== undefined || resolved());
  const decision = run.decision;
  run.decision = undefined;
  run.attention = undefined;
  if (!decision) return undefined;
  run.decisions.push(recordOf(run.offers, decision));
  run.offers = [];
  return decision;
}
