import { workflowInfo } from '@temporalio/workflow';
import type { CreateVerdict, SendPermission } from '../../contract/order/answers.js';
import type { Order } from '../../contract/order/order.js';
import { factsOf } from '../../contract/order/types.js';
import { closeCancelled } from '../order/end.js';
import { delayHasPassed, nothingSent, type OrderRun, showsNone } from '../order/run.js';
import { CREATE_TIMEOUT_MS, SEND_TIMEOUT_MS } from '../profiles.js';
import { type Ours, takeOrder } from './adopt.js';
import { askPerson, resolveConflict, settleOrAsk } from './ask-person.js';
import { attemptCreate } from './attempt.js';
import { findRecovered } from './followers.js';
import { type Evidence, mayResend, openBudget, type ResendAnswer, spend } from './may-resend.js';
import { settle, settleWindowMs } from './settle.js';
import { actOn, type Rounds } from './verdict.js';

/** Brings the order into being, once, and returns it; closes the workflow when no order comes to exist. */
export async function createOrder(run: OrderRun): Promise<Order> {
  const { recovered } = run.input;
  return takeOrder(run, recovered ? await findRecovered(run, recovered.order_uuid) : await findOrSend(run));
}

/** Whether a create is sent, and sent again, is decided by `mayResend` and here alone; every attempt probes before it sends. */
async function findOrSend(run: OrderRun): Promise<Ours> {
  const rounds: Rounds = { ...openBudget(run.input.resend, factsOf(run.type).movesMoneyAtOnce), notSent: 0 };
  for (;;) {
    if (run.cancelRequested && nothingSent(run)) closeCancelled(run);
    const found = await nextStep(run, mayResend(evidenceOf(run), rounds), rounds);
    if (found) return found;
  }
}

const evidenceOf = (run: OrderRun): Evidence => ({
  ...run.sends,
  cancelRequested: run.cancelRequested,
  isLate: delayHasPassed(run),
  shown: showsNone(run),
});

/** Does what the decision demands. Returns our order; undefined when it is to be decided anew. */
function nextStep(run: OrderRun, decided: ResendAnswer, rounds: Rounds): Promise<Ours | undefined> {
  switch (decided.answer) {
    case 'yes':
      return attempt(run, decided.permission, rounds);
    case 'a person':
      return askToResend(run, decided.reason);
    case 'no':
      switch (decided.first) {
        case 'look for the earlier run':
          return attempt(run, 'none', rounds);
        case 'settle':
          return settleSends(run, 'a person confirmed another place as the account of this order', 0);
        case 'resolve the conflict':
          return resolveConflict(run, decided.conflict);
      }
  }
}

async function attempt(run: OrderRun, permission: SendPermission, rounds: Rounds): Promise<Ours | undefined> {
  if (permission === 'absent') notePermission(run);
  const verdict = await attemptCreate(run, permission);
  if (verdict.kind !== 'uncertain') return actOn(run, verdict, rounds);
  if (permission === 'none') return proveEarlierAbsent(run);
  run.sends.count += 1;
  run.sends.unclear = verdict.reason;
  spend(rounds, verdict);
  return settleSends(run, verdict.reason, countAfterMs(verdict));
}

async function askToResend(run: OrderRun, reason: string): Promise<Ours | undefined> {
  const found = await askPerson(run, { reason, allowed: ['resend', 'close-absent', 'adopt'] });
  if (!found) notePermission(run);
  return found;
}

function notePermission(run: OrderRun): void {
  const { settled } = run.sends;
  if (settled?.kind !== 'absent') return;
  run.sends.settled = { ...settled, permitted: delayHasPassed(run) ? 'late' : 'inTime' };
}

/** Finds out what became of the creates sent so far; what is not our order is evidence for the next decision. */
async function settleSends(run: OrderRun, reason: string, fromMs: number): Promise<Ours | undefined> {
  run.sends.settled = undefined;
  const seen = await settle(run, reason, fromMs);
  if (seen.kind === 'ours') return seen;
  const proof = { place: run.sends.timesMoved, provenIn: run.answeredIn };
  run.sends.settled = seen.kind === 'absent' ? { ...seen, ...proof } : seen;
  return undefined;
}

/**
 * From when on absence counts: not while an attempt that ended without an answer of its own may still send, nor while the
 * service asked to be left alone, so that nothing is sent again before that time either.
 */
function countAfterMs({ reset, timedOut, retryAfterMs = 0 }: Extract<CreateVerdict, { kind: 'uncertain' }>): number {
  if (reset) return CREATE_TIMEOUT_MS;
  return timedOut ? SEND_TIMEOUT_MS : retryAfterMs;
}

/**
 * After an attempt that could not send because an earlier run of this order id may have: that it did not is read over the
 * settle window since then. Only then is this run like any other first one.
 */
async function proveEarlierAbsent(run: OrderRun): Promise<Ours | undefined> {
  const startedAtMs = workflowInfo().startTime.getTime();
  const claimedMs = Date.parse(run.input.sentUntil ?? '');
  // The start's own time also where the claim is no time: the next attempt refuses that.
  const sentUntilMs = claimedMs < startedAtMs ? claimedMs : startedAtMs;
  // Long over: the probes of the attempt before and of the next one are enough.
  const isOver = run.pace && Date.now() - sentUntilMs >= settleWindowMs(run);
  const why = 'an earlier run of this order id may have sent it';
  const found = isOver ? undefined : await settleOrAsk(run, why, { sentUntilMs });
  run.sends.earlierInDoubt = false;
  return found;
}
