import { condition } from '@temporalio/workflow';
import { statusText } from '../../contract/failures.js';
import { maskWords } from '../../contract/masking.js';
import type { CreateVerdict } from '../../contract/order/answers.js';
import { factsOf } from '../../contract/order/types.js';
import { lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { enterPhase } from '../order/attention.js';
import { closeCancelled, closeWithoutOrder } from '../order/end.js';
import { parkUnless } from '../order/park.js';
import { nothingSent, type OrderRun, showsNone } from '../order/run.js';
import { CREATE_TIMEOUT_MS } from '../profiles.js';
import { watch } from '../watch.js';
import { foreignOrder, type Ours, seenIn, severalOrders } from './adopt.js';
import { askPerson, closeIfAbsent, meetConflict, resolveConflict, settleOrAsk, takeReading } from './ask-person.js';
import { type Budget, MAX_RATE_LIMITED } from './may-resend.js';

/** Attempts that sent nothing, before a person is asked. */
const MAX_NOT_SENT = 50;

/** Longest wait between two of them. */
const MAX_WAIT_MS = 60_000;

/** Before a 400 on a type that moves money at once is believed, absence is read twice, this far apart. */
const SECOND_ABSENCE_AFTER_MS = 5_000;

/** How often the service kept this order waiting, besides what its budget knows. */
export interface Rounds extends Budget {
  /** Attempts that sent nothing. */
  notSent: number;
}

type CertainVerdict = Exclude<CreateVerdict, { kind: 'uncertain' }>;

/** Acts on a verdict that leaves no doubt about what its attempt sent. Returns our order; undefined: another attempt is due. */
export async function actOn(run: OrderRun, verdict: CertainVerdict, rounds: Rounds): Promise<Ours | undefined> {
  switch (verdict.kind) {
    case 'accepted':
    case 'adopted':
      return { ...verdict, kind: 'ours', how: verdict.kind };
    case 'conflict':
      return meetConflict(run, foreignOrder(run, verdict.order, verdict.differences));
    case 'duplicates':
      return meetConflict(run, severalOrders(verdict));
    case 'notSent':
      rounds.notSent += 1;
      return waitForService(run, { reason: verdict.reason, round: rounds.notSent, maxRounds: MAX_NOT_SENT });
    case 'rateLimited':
      rounds.rateLimited += 1;
      return waitForService(run, {
        reason: 'the service answers "too many requests"',
        round: rounds.rateLimited,
        maxRounds: MAX_RATE_LIMITED,
        retryAfterMs: verdict.retryAfterMs,
      });
    case 'overCap':
      return askForApproval(run, verdict.reason);
    case 'stale':
      return onStale(run, verdict.reason);
    case 'rejected':
      return onRejected(run, statusText(400, verdict.excerpt));
  }
}

/** Why nothing was sent, how often so far, and from when on a person is asked. */
interface Wait {
  reason: string;
  round: number;
  maxRounds: number;
  /** The service's own wish, already capped. */
  retryAfterMs?: number;
}

/**
 * Nothing was sent: waits in one look-up that the server repeats until the service answers, which costs no history
 * however long it takes. Returns the order when it was there after all.
 */
async function waitForService(run: OrderRun, wait: Wait): Promise<Ours | undefined> {
  if (wait.round % wait.maxRounds === 0) {
    const rounds = wait.round > 1 ? ` (${wait.round} rounds)` : '';
    const reason = `${nothingSent(run) ? 'nothing was sent' : 'not sent again'}: ${wait.reason}${rounds}`;
    return askPerson(run, { reason, allowed: ['resend', 'close-absent'] });
  }
  enterPhase(run, 'creating', `the service: ${wait.reason}`);
  const reading = lookUp(run, {
    summary: `Not sent: ${wait.reason}`,
    delayMs: wait.retryAfterMs ?? Math.min(MAX_WAIT_MS, 500 * 2 ** wait.round),
    alarm: true,
  });
  const answered = watch(reading);
  await condition(() => answered() || (run.cancelRequested && nothingSent(run)));
  if (!answered()) closeCancelled(run);
  // Not part of the wait: what was found may need a person, and then a cancellation no longer says that nothing exists.
  return takeReading(run, await reading);
}

/** Above a cap: a person approves the amount or refuses it. Cancelling refuses it, too, while nothing was sent. */
async function askForApproval(run: OrderRun, reason: string): Promise<Ours | undefined> {
  const cancelled = () => run.cancelRequested && nothingSent(run);
  const decision = await parkUnless(run, reason, ['approve', 'refuse'], cancelled);
  if (!decision) closeCancelled(run);
  if (decision.action === 'approve') {
    run.approved = true;
    return undefined;
  }
  // An earlier create may have been executed while this waited: only proven absence may close it.
  if (!nothingSent(run)) return closeIfAbsent(run, decision.by);
  const refused = `order ${run.orderId} was refused by ${maskWords(decision.by)}: ${reason}`;
  closeWithoutOrder(run, 'OrderCancelled', refused);
}

/** What a follow-up was made for has changed. Once something may have been sent, only a person and proof may close it. */
async function onStale(run: OrderRun, reason: string): Promise<Ours | undefined> {
  if (!nothingSent(run)) return waitForService(run, { reason, round: 1, maxRounds: 1 });
  closeWithoutOrder(run, 'OrderCancelled', `order ${run.orderId} was not sent: ${reason}`);
}

/** A 400 ends the order only after absence was read: it may also mean that the id exists already. */
async function onRejected(run: OrderRun, answer: string): Promise<Ours> {
  run.sends.refused = true;
  enterPhase(run, 'uncertain', 'proof that the refused order does not exist');
  // A caller waits for the answer to an order, nobody for that to a follow-up; and the one after it has another id, so that
  // nothing would look for this one any more.
  const quick = run.sends.count === 0 && !isFollowUp(run);
  let found = quick ? await readAfterRejection(run) : undefined;
  // A reset run replays those look-ups, but they prove nothing in it: another run may have sent since.
  if (!found && !(quick && nothingSent(run))) found = await settleAfterRejection(run, answer);
  if (found) return found;
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  const refused = `the service refused the create of ${run.orderId} (${answer}), and ${showsNone(run)}. ${advice}`;
  closeWithoutOrder(run, 'OrderRejected', refused, { answer });
}

/** A first create that was refused: types that move money at once are looked for twice, the others once. */
async function readAfterRejection(run: OrderRun): Promise<Ours | undefined> {
  const first = await lookUp(run, { summary: 'Refused: is it there?', alarm: true });
  const isForeign = first.kind === 'found' && first.differences.length > 0;
  // An order of somebody else explains the 400 and says nothing about ours.
  const second = factsOf(run.type).movesMoneyAtOnce && (first.kind === 'absent' || isForeign);
  const seen = seenIn(run, second ? await lookUp(run, SECOND_LOOK) : first);
  if (seen.kind === 'absent') return undefined;
  // The refused create left: what has our id may have come of it, so that only a person may end it.
  return seen.kind === 'ours' ? seen : resolveConflict(run, seen);
}

const SECOND_LOOK = {
  summary: 'Refused: is it really not there?',
  delayMs: SECOND_ABSENCE_AFTER_MS,
  alarm: true,
} as const;

function settleAfterRejection(run: OrderRun, answer: string): Promise<Ours | undefined> {
  const repeated = run.sends.count > 0;
  const refused = `the service refused the create${repeated ? ' that was repeated' : ''} (${answer})`;
  // Without a send before this one it was reset: the run before may have an attempt that is still alive.
  const wasReset = !repeated && !nothingSent(run);
  return settleOrAsk(run, refused, { countAfterMs: wasReset ? CREATE_TIMEOUT_MS : 0, refused });
}
