import type { SendPermission } from '../../contract/order/activities.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { findRecovered } from '../follow/find-order.js';
import { cancelled, close } from '../order/end.js';
import { raiseAttention } from '../order/show.js';
import { knowsOfNoSend, noSendInDoubt, type OrderRun, restoreInDoubt, showsNone } from '../order/state.js';
import { type Rounds, stepAfter } from './after-attempt.js';
import { attemptCreate, delayHasPassed } from './attempt.js';
import { askAboutUncertain, conclude, type Step } from './conclude.js';
import { endCancelled, settleRestored } from './end-unsent.js';
import { type Evidence, mayResend, openBudget, spend } from './may-resend.js';
import { foreignOrder, type Ours, settleEarlierRun, settleSends } from './settle.js';

/** Brings the order into being, once: each step tells how far it came, and what comes next is decided anew. */
export async function createOrder(run: OrderRun): Promise<Order> {
  const { recovered, resend } = run.input;
  const budget = openBudget(resend, factsOf(run.type).movesMoneyAtOnce);
  const rounds: Rounds = { ...budget, notSent: 0 };
  for (;;) {
    const step = await (recovered ? findRecovered(run, recovered.order_uuid) : nextStep(run, rounds));
    const end = await conclude(run, step);
    if (end?.kind === 'ours') return takeOrder(run, end);
    if (end?.kind === 'closed') close(run, end);
    if (end?.kind === 'permitted') notePermission(run, end.wasLate);
  }
}

/** Sends, or does what must come first. THE place where `mayResend` is asked; every attempt probes before it sends. */
async function nextStep(run: OrderRun, rounds: Rounds): Promise<Step> {
  if (run.cancelRequested && noSendInDoubt(run)) return cancelled(run);
  // Before it ends, and instead of an attempt, which might send what nobody wants any more.
  if (run.cancelRequested && knowsOfNoSend(run) && restoreInDoubt(run)) return settleRestored(run);
  const evidence = evidenceOf(run);
  const decided = mayResend(evidence, rounds);
  switch (decided.answer) {
    case 'yes':
      return attempt(run, decided.permission, rounds);
    case 'a person':
      return askAboutUncertain(decided.reason, evidence.isLate);
    case 'no':
      switch (decided.first) {
        case 'settle':
          return settleSends(run, { reason: 'a person confirmed another place as the account of this order' });
        case 'look for the earlier run':
          return attempt(run, 'none', rounds);
        case 'resolve the conflict':
          return decided.conflict;
      }
  }
}

const evidenceOf = (run: OrderRun): Evidence => ({
  ...run.sends,
  cancelRequested: run.cancelRequested,
  isLate: delayHasPassed(run),
  shown: showsNone(run),
});

async function attempt(run: OrderRun, permission: SendPermission, rounds: Rounds): Promise<Step> {
  if (permission === 'absent') notePermission(run);
  const isPermitted = () => permission === 'none' || mayResend(evidenceOf(run), rounds).answer === 'yes';
  const verdict = await attemptCreate(run, permission, isPermitted);
  if (verdict.kind === 'closed') return verdict;
  if (verdict.kind === 'takenBack') return endCancelled(run);
  if (verdict.kind !== 'uncertain') return stepAfter(run, verdict, rounds);
  if (permission === 'none') return settleEarlierRun(run);
  run.sends.count += 1;
  run.sends.unclear = verdict.reason;
  spend(rounds, verdict);
  if (verdict.underOtherId) {
    // Look-ups by our id may not show it: nothing is sent again, and an operator is asked.
    run.sends.settled = foreignOrder(run, { order: verdict.underOtherId, differences: ['order_id'] });
    return run.sends.settled;
  }
  return settleSends(run, verdict);
}

/**
 * Keeps that a re-send was permitted on the absence proven last, and what was known by then. `wasLate`: of a person, whether they
 * were told that the order is late.
 */
function notePermission(run: OrderRun, wasLate = delayHasPassed(run)): void {
  const { settled } = run.sends;
  if (settled?.kind !== 'absent') return;
  const { isLate, cancelRequested } = evidenceOf(run);
  // What was permitted before the time of a delayed order passed is no permission for the late one.
  run.sends.settled = { ...settled, permitted: { isLate: isLate && wasLate, cancelRequested } };
}

/** THE place where a run gets its order, which is looked up by its `order_uuid` from here on. */
export function takeOrder(run: OrderRun, { order, how, soft = [], overruled }: Ours): Order {
  run.order = order;
  run.adopted = how === 'adopted';
  // Only a signed look-up may say how an order ended; the create's own answer may not, so it is looked up once more.
  run.orderFromLookUp = run.adopted;
  run.sends.earlierInDoubt = false;
  run.overruled = overruled;
  if (overruled || soft.length > 0) run.echoDifferences = [...(overruled ?? []), ...soft];
  if (!overruled && soft.length > 0) {
    const fields = soft.join(', ');
    const shown = `order ${order.order_uuid} is ours, and the service shows it in another form: ${fields}`;
    raiseAttention(run, 'shown-otherwise', shown);
  }
  return order;
}
