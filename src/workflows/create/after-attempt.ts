import { CancellationScope, condition } from '@temporalio/workflow';
import { statusText } from '../../contract/failures.js';
import type { CreateVerdict } from '../../contract/order/activities.js';
import { factsOf } from '../../contract/order/types.js';
import { watch } from '../activity-calls.js';
import { closed } from '../order/end.js';
import { knowsOfNoSend, noSendInDoubt, type OrderRun, restoreInDoubt, showsNone } from '../order/state.js';
import { delayHasPassed } from './attempt.js';
import { askAboutUncertain, type Step } from './conclude.js';
import { endCancelled, wantsEnd } from './end-unsent.js';
import { type Budget, MAX_RATE_LIMITED } from './may-resend.js';
import { duplicateOrders, foreignOrder, look, proveAbsent, type Seen, settleEarlierRun } from './settle.js';

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

/** What follows from a verdict that leaves no doubt about what its attempt sent. */
export async function stepAfter(run: OrderRun, verdict: CertainVerdict, rounds: Rounds): Promise<Step> {
  const sentNothing = verdict.kind === 'notSent' || verdict.kind === 'rateLimited';
  // Settled once: a worker whose clock is behind goes on naming the same restore, and is waited for.
  if (sentNothing && restoreInDoubt(run) && knowsOfNoSend(run)) return settleRestore(run, verdict);
  switch (verdict.kind) {
    case 'accepted':
    case 'adopted':
      return { ...verdict, kind: 'ours', how: verdict.kind };
    case 'conflict':
      return foreignOrder(run, verdict);
    case 'duplicates':
      return duplicateOrders(verdict);
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
      return { kind: 'question', code: 'over-cap', reason: verdict.reason, allowed: ['approve', 'refuse'] };
    case 'stale': {
      const { reason } = verdict;
      if (noSendInDoubt(run)) return closed('OrderCancelled', `order ${run.orderId} was not sent: ${reason}`);
      // Once something may have been sent, only a person and proof may close it.
      return waitForService(run, { reason, round: 1, maxRounds: 1 });
    }
    case 'rejected':
      return afterRejection(run, statusText(400, verdict.excerpt));
  }
}

/** A restored Temporal may have forgotten a create: the run goes on like one that was started again after a run that may have sent. */
function settleRestore(run: OrderRun, verdict: CertainVerdict): Promise<Seen> {
  run.sends.earlierInDoubt = true;
  return settleEarlierRun(run, 'reason' in verdict ? verdict.reason : 'Temporal was restored');
}

/** Why nothing was sent, how often so far, and from when on a person is asked. */
interface Wait {
  reason: string;
  round: number;
  maxRounds: number;
  /** The service's own wish, already capped. */
  retryAfterMs?: number;
}

/** Waits in one look-up, which the server repeats without history; an order that it shows is what the step came to. */
async function waitForService(run: OrderRun, wait: Wait): Promise<Step> {
  if (wait.round % wait.maxRounds === 0) {
    const rounds = wait.round > 1 ? ` (${wait.round} rounds)` : '';
    const reason = `${noSendInDoubt(run) ? 'nothing was sent' : 'not sent again'}: ${wait.reason}${rounds}`;
    return { kind: 'question', code: 'not-sent', reason, allowed: ['resend', 'close-absent'] };
  }
  const asking = new CancellationScope();
  const reading = asking.run(() =>
    look(run, {
      phase: 'creating',
      waitingFor: `the service: ${wait.reason}`,
      summary: `Not sent: ${wait.reason}`,
      delayMs: wait.retryAfterMs ?? Math.min(MAX_WAIT_MS, 500 * 2 ** wait.round),
    }),
  );
  const answered = watch(reading);
  await condition(() => answered() || wantsEnd(run));
  if (answered()) return reading;
  asking.cancel();
  return endCancelled(run);
}

/** A 400 ends the order only after absence was read: it may also mean that the id exists already. */
async function afterRejection(run: OrderRun, answer: string): Promise<Step> {
  run.sends.rejected = true;
  const repeated = run.sends.count > 0;
  const refused = `the service refused the create${repeated ? ' that was repeated' : ''} (${answer})`;
  // Only an order's first create is answered quickly: a caller waits. A follow-up is settled in full: the next one has another
  // id and would not find it.
  const quick = !repeated && !run.followUp;
  if (quick) {
    const seen = await readAfterRejection(run);
    if (seen.kind === 'ours') return seen;
    // The refused create left: what has our id may have come of it, so that only a person may end it.
    if (seen.kind === 'conflict') return { ...seen, askAtOnce: true };
  }
  // A reset run replays those look-ups, but they prove nothing in it: another run may have sent since.
  if (!quick || !noSendInDoubt(run)) {
    const seen = await proveAbsent(run, refused);
    if (seen.kind === 'ours') return seen;
    if (seen.kind === 'conflict') return { ...seen, reason: `${seen.reason}; ${refused}` };
  }
  // What went elsewhere is not absent because this place refused it.
  if (run.sends.accountUnknown) return askAboutRefusal(run, refused);
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  const message = `the service refused the create of ${run.orderId} (${answer}), and ${showsNone(run)}. ${advice}`;
  return closed('OrderRejected', message, [{ answer }]);
}

/** An earlier create went to a place that nobody knows, which no absence read here is about. */
function askAboutRefusal(run: OrderRun, refused: string): Step {
  const reason = `${refused}, and ${showsNone(run)}; where an earlier create went is not known: look for it at every account that it may have gone to`;
  return askAboutUncertain(reason, delayHasPassed(run));
}

/** A first create that was refused: types that move money at once are looked for twice, the others once. */
async function readAfterRejection(run: OrderRun): Promise<Seen> {
  const waitingFor = 'proof that the refused order does not exist';
  const first = await look(run, { waitingFor, summary: 'Refused: is it there?' });
  // An order of somebody else explains the 400 and says nothing about ours.
  const isForeign = first.kind === 'conflict' && first.foreign !== undefined;
  if (!factsOf(run.type).movesMoneyAtOnce || (first.kind !== 'absent' && !isForeign)) return first;
  const summary = 'Refused: is it really not there?';
  return look(run, { waitingFor, summary, delayMs: SECOND_ABSENCE_AFTER_MS });
}
