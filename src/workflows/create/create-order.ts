import { workflowInfo } from '@temporalio/workflow';
import { statusText } from '../../contract/failures.js';
import { maskWords } from '../../contract/masking.js';
import type { CreateVerdict } from '../../contract/order/answers.js';
import { movesMoneyAtOnce } from '../../contract/order/types.js';
import { lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { enterPhase } from '../order/attention.js';
import { closeCancelled, closeWithoutOrder } from '../order/end.js';
import { parkUnless } from '../order/park.js';
import { nothingSent, type OrderRun, showsNone } from '../order/run.js';
import { CREATE_TIMEOUT_MS, SEND_TIMEOUT_MS } from '../profiles.js';
import { foreignOrder, judge, severalOrders, takeOrder } from './adopt.js';
import { attemptCreate, type SendLeave } from './attempt.js';
import { adoptChosen, closeIfAbsent, meetConflict, resolveConflict } from './conflict.js';
import { delayHasPassed } from './delay.js';
import { lateCallbacks } from './late-callbacks.js';
import { settle, settleWindowMs } from './settle.js';
import { takeRecovered } from './take-recovered.js';
import { waitForService } from './wait-for-service.js';

/** Before a 400 on a type that moves money at once is believed, absence is read twice, this far apart. */
const SECOND_ABSENCE_AFTER_MS = 5_000;

/** Times that the service may answer "too many requests" before a person is asked. */
const MAX_RATE_LIMITED = 20;

/** What may still happen by itself, and what happened: re-sends left; how often nothing was sent, or too much was asked. */
interface Rounds {
  resendsLeft: number;
  /** What became of the last create that may have reached the service. */
  unclear: string;
  notSent: number;
  rateLimited: number;
}

type Uncertain = Extract<CreateVerdict, { kind: 'uncertain' }>;

/**
 * Brings the order into being, once. Returns with `run.order` set; closes the workflow when no order comes to exist.
 *
 * Whether a create is sent again is decided here and only here: after an attempt that may have reached the service, the
 * next one gets the permission to send from `mayResend` alone. Every attempt probes before it sends.
 */
export async function createOrder(run: OrderRun): Promise<void> {
  const { recovered } = run.input;
  if (recovered) return takeRecovered(run, recovered.order_uuid);
  let leave = run.earlierInDoubt ? NO_LEAVE : FIRST_LEAVE;
  const resendsLeft = run.input.resend === 'never' ? 0 : movesMoneyAtOnce(run.type) ? 1 : 2;
  const rounds: Rounds = { resendsLeft, unclear: '', notSent: 0, rateLimited: 0 };
  while (!run.order) {
    if (run.cancelRequested && nothingSent(run)) closeCancelled(run);
    if (isForOtherPlace(run, leave)) {
      const reason = 'a person confirmed another place as the account of this order';
      leave = await settleForLeave(run, rounds, { reason, covered: false });
      continue;
    }
    if (hasExpired(run, leave)) {
      leave = await askForLeave(run, false, rounds, leave.provenIn);
      continue;
    }
    const verdict = await attemptCreate(run, leave);
    if (verdict.kind !== 'uncertain') {
      await onCertain(run, verdict, rounds);
    } else if (leave.permission === 'none') {
      leave = await afterLookingOnly(run);
    } else {
      leave = await afterSending(run, verdict, rounds);
    }
  }
}

const FIRST_LEAVE: SendLeave = { permission: 'first', inTime: true };
const NO_LEAVE: SendLeave = { permission: 'none', inTime: true };

/** After an attempt that may have reached the service: finds out, and asks for leave where the order is absent. */
function afterSending(run: OrderRun, verdict: Uncertain, rounds: Rounds): Promise<SendLeave> {
  run.sends += 1;
  rounds.unclear = verdict.reason;
  const covered = takeResend(run, rounds, verdict);
  return settleForLeave(run, rounds, { reason: verdict.reason, covered, countAfterMs: countAfterMs(verdict) });
}

/** Settles, and asks for leave where the order is absent. `covered`: the budget allows one more send. */
async function settleForLeave(
  run: OrderRun,
  rounds: Rounds,
  settling: { reason: string; covered: boolean; countAfterMs?: number },
): Promise<SendLeave> {
  const end = await settle(run, settling.reason, settling.countAfterMs);
  if (end.kind === 'absent') return askForLeave(run, settling.covered, rounds, run.answeredIn);
  // Never sent again while somebody else's order has our id.
  if (end.kind === 'conflict') await resolveConflict(run, end);
  return NO_LEAVE;
}

/**
 * After an attempt that could not send because an earlier run of this order id may have: that it did not is read over the
 * settle window since then. Only then is this run like any other first one.
 */
async function afterLookingOnly(run: OrderRun): Promise<SendLeave> {
  const startedAtMs = workflowInfo().startTime.getTime();
  const claimedMs = Date.parse(run.input.sentUntil ?? '');
  // The start's own time also where the claim is no time: the next attempt refuses that.
  const sentUntilMs = claimedMs < startedAtMs ? claimedMs : startedAtMs;
  // Long over: the probes of the attempt before and of the next one are enough.
  const isOver = run.pace && Date.now() - sentUntilMs >= settleWindowMs(run);
  if (!isOver) {
    const end = await settle(run, 'an earlier run of this order id may have sent it', 0, sentUntilMs);
    if (end.kind === 'conflict') await resolveConflict(run, end);
  }
  run.earlierInDoubt = false;
  return FIRST_LEAVE;
}

/** True when the budget covers one more send; takes it. After "too many requests" it costs none, up to a number of rounds. */
function takeResend(run: OrderRun, rounds: Rounds, { retryAfterMs }: Uncertain): boolean {
  if (retryAfterMs !== undefined && run.input.resend !== 'never') {
    rounds.rateLimited += 1;
    return rounds.rateLimited % MAX_RATE_LIMITED !== 0;
  }
  rounds.resendsLeft -= 1;
  return rounds.resendsLeft >= 0;
}

async function askForLeave(run: OrderRun, asked: boolean, rounds: Rounds, provenIn?: string): Promise<SendLeave> {
  const provenAt = run.timesMoved;
  // Where a create went is known by a person's word, or not at all: nothing proves absence there but that person.
  const covered = asked && run.timesMoved === 0 && !run.sentToUnknown && !run.mayBeReplaced;
  const permission = (await mayResend(run, covered, rounds)) ? 'absent' : 'none';
  return { permission, inTime: !delayHasPassed(run), provenAt, ...(provenIn && { provenIn }) };
}

/** True when absence was proven at another place than a create would go to now. */
const isForOtherPlace = (run: OrderRun, { permission, provenAt }: SendLeave): boolean =>
  permission === 'absent' && provenAt !== run.timesMoved;

/** True when the service made a repeated create wait until its time had passed: is it still wanted? A person says. */
const hasExpired = (run: OrderRun, { permission, inTime }: SendLeave): boolean =>
  permission === 'absent' && inTime && delayHasPassed(run);

/**
 * From when on absence counts: not while an attempt that ended without an answer of its own may still send, nor while the
 * service asked to be left alone, so that nothing is sent again before that time either.
 */
function countAfterMs({ reset, timedOut, retryAfterMs = 0 }: Uncertain): number {
  if (reset) return CREATE_TIMEOUT_MS;
  return timedOut ? SEND_TIMEOUT_MS : retryAfterMs;
}

/** THE decision whether an uncertain create, now proven absent, is sent again: by the budget, otherwise by a person. */
async function mayResend(run: OrderRun, covered: boolean, { unclear }: Rounds): Promise<boolean> {
  if (covered && !run.cancelRequested && !delayHasPassed(run)) return true;
  const tooLate = delayHasPassed(run) ? '; the time that it was to start at has passed' : '';
  const unknown = run.sentToUnknown ? '; where its create went is not known: make sure that this is the account' : '';
  const replaced = run.mayBeReplaced ? '; another follow-up may have been sent in its place since' : '';
  let reason = `${unclear}, and ${showsNone(run)}${tooLate}${unknown}${replaced}`;
  const late = lateCallbacks(run);
  while (!run.order) {
    const decision = await parkUnless(run, reason, ['resend', 'close-absent', 'adopt'], late.pending);
    if (decision?.action === 'resend') return true;
    if (decision?.action === 'close-absent') {
      await closeIfAbsent(run, decision.by);
    } else if (decision) {
      const { why, conflict } = await adoptChosen(run, decision);
      if (conflict) await meetConflict(run, conflict);
      reason = why;
    } else {
      await late.look();
    }
  }
  return false;
}

/** Acts on every verdict that leaves no doubt about what this attempt sent. */
async function onCertain(run: OrderRun, verdict: Exclude<CreateVerdict, Uncertain>, rounds: Rounds): Promise<void> {
  switch (verdict.kind) {
    case 'accepted':
    case 'adopted':
      return takeOrder(run, verdict.order, verdict.kind, verdict.soft);
    case 'conflict':
      return meetConflict(run, foreignOrder(run, verdict.order, verdict.differences));
    case 'duplicates':
      return meetConflict(run, severalOrders(verdict));
    case 'notSent':
      rounds.notSent += 1;
      return waitForService(run, { reason: verdict.reason, round: rounds.notSent, maxRounds: 50 });
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

/** Above a cap: a person approves the amount or refuses it. Cancelling refuses it, too, while nothing was sent. */
async function askForApproval(run: OrderRun, reason: string): Promise<void> {
  const cancelled = () => run.cancelRequested && nothingSent(run);
  const decision = await parkUnless(run, reason, ['approve', 'refuse'], cancelled);
  if (!decision) closeCancelled(run);
  if (decision.action === 'approve') {
    run.approved = true;
  } else if (nothingSent(run)) {
    closeWithoutOrder(
      run,
      'OrderCancelled',
      `order ${run.orderId} was refused by ${maskWords(decision.by)}: ${reason}`,
    );
  } else {
    // An earlier create may have been executed while this waited: only proven absence may close it.
    await closeIfAbsent(run, decision.by);
  }
}

/** What a follow-up was made for has changed. Once something may have been sent, only a person and proof may close it. */
async function onStale(run: OrderRun, reason: string): Promise<void> {
  if (!nothingSent(run)) return waitForService(run, { reason, round: 1, maxRounds: 1 });
  closeWithoutOrder(run, 'OrderCancelled', `order ${run.orderId} was not sent: ${reason}`);
}

/** A 400 ends the order only after absence was read: it may also mean that the id exists already. */
async function onRejected(run: OrderRun, answer: string): Promise<void> {
  run.refused = true;
  enterPhase(run, 'uncertain', 'proof that the refused order does not exist');
  // A caller waits for the answer to an order, nobody for that to a follow-up; and the one after it has another id, so that
  // nothing would look for this one any more.
  const quick = run.sends === 0 && !isFollowUp(run);
  if (quick) await readAfterRejection(run);
  // A reset run replays those look-ups, but they prove nothing in it: another run may have sent since.
  if (!run.order && !(quick && nothingSent(run))) await settleAfterRejection(run, answer);
  if (run.order) return;
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  closeWithoutOrder(
    run,
    'OrderRejected',
    `the service refused the create of ${run.orderId} (${answer}), and ${showsNone(run)}. ${advice}`,
    { answer },
  );
}

/** A first create that was refused: types that move money at once are looked for twice, the others once. */
async function readAfterRejection(run: OrderRun): Promise<void> {
  const first = await lookUp(run, { summary: 'Refused: is it there?', alarm: true });
  const isForeign = first.kind === 'found' && first.differences.length > 0;
  // An order of somebody else explains the 400 and says nothing about ours.
  const second = movesMoneyAtOnce(run.type) && (first.kind === 'absent' || isForeign);
  const last = judge(run, second ? await lookUp(run, SECOND_LOOK) : first);
  if (last.kind === 'ours') takeOrder(run, last.order, 'adopted', last.soft);
  // The refused create left: what has our id may have come of it, so that only a person may end it.
  if (last.kind === 'conflict') await resolveConflict(run, last);
}

const SECOND_LOOK = {
  summary: 'Refused: is it really not there?',
  delayMs: SECOND_ABSENCE_AFTER_MS,
  alarm: true,
} as const;

async function settleAfterRejection(run: OrderRun, answer: string): Promise<void> {
  const refused = `the service refused the create${run.sends > 0 ? ' that was repeated' : ''} (${answer})`;
  // Without a send before this one it was reset: the run before may have an attempt that is still alive.
  const wasReset = run.sends === 0 && !nothingSent(run);
  const end = await settle(run, refused, wasReset ? CREATE_TIMEOUT_MS : 0);
  if (end.kind === 'conflict') await resolveConflict(run, { ...end, reason: `${end.reason}; ${refused}` });
}
