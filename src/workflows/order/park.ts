import { condition } from '@temporalio/workflow';
import type { ApprovedAmount, DecideAction, TakenDecision } from '../../contract/order/messages.js';
import type { OrderAttention } from '../../contract/words.js';
import type { Offer } from '../compensation/offers.js';
import { recordOf } from './decision.js';
import { raiseAttention } from './show.js';
import type { Candidate, OrderRun } from './state.js';

/**
 * What a parked order asks. `offers`: what `finish` and `revert` may mean. `candidates`: what `adopt` may. `toApprove`: what
 * `approve` covers.
 */
export interface Asked {
  code: OrderAttention;
  reason: string;
  allowed: DecideAction[];
  offers?: readonly Offer[];
  candidates?: readonly Candidate[];
  toApprove?: ApprovedAmount;
}

/**
 * Keeps the workflow open until a person decides, without a time-out: an order whose outcome is unknown must not close by
 * itself. The decision is kept for the result.
 */
export async function park(run: OrderRun, asked: Asked): Promise<TakenDecision> {
  // Without another way out, only a decision ends the wait.
  return (await parkUnless(run, asked, () => false)) as TakenDecision;
}

/** Like `park`, but also ends, with undefined, when `resolved` says that there is something new to look at. */
export async function parkUnless(
  run: OrderRun,
  { code, reason, allowed, offers = [], candidates = [], toApprove }: Asked,
  resolved: () => boolean,
): Promise<TakenDecision | undefined> {
  run.phase = 'parked';
  run.waitingFor = 'a decision';
  run.parked = { offers, candidates };
  run.attention = undefined;
  raiseAttention(run, code, reason, allowed, toApprove);
  await condition(() => run.parked.decision !== undefined || resolved());
  const { decision } = run.parked;
  run.parked = { offers: [], candidates: [] };
  run.attention = undefined;
  if (!decision) return undefined;
  run.decisions.push(recordOf(offers, decision));
  return decision;
}
