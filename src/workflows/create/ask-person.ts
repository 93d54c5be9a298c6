import { CancellationScope, condition } from '@temporalio/workflow';
import { timeShown } from '../../contract/attention.js';
import { type LookUpInput, OUTAGE_WINDOWS } from '../../contract/order/activities.js';
import { watch } from '../activity-calls.js';
import { lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { enterPhase, type ParkQuestion, parkUnless } from '../order/show.js';
import { type OrderRun, showsNone } from '../order/state.js';
import { type Outcome, record } from './apply-outcome.js';
import { startsAtMs } from './attempt.js';
import { CALLED_BACK, HIDES, NONE_LATER } from './closed-as.js';
import { outcomeOf } from './decided.js';
import { type Absence, isFollowable, isPlaceUnknown, type Seen, seenIn, wasEverInDoubt } from './facts.js';
import type { Question } from './next-action.js';

/** Keeps the workflow open until an operator decides, or until the question is obsolete (`isChanged`). */
export async function askPerson(run: OrderRun, about: Question, isChanged: () => boolean): Promise<void> {
  if (about.kind === 'uncertain' && about.waitsFor) await letOthersGoFirst(run, about.waitsFor, isChanged);
  if (isChanged()) return;
  const asking = new CancellationScope();
  const later = waitsForLater(about)
    ? asking.run(() => awaitShown(run, about.kind === 'hidden' ? 'whole' : 'later'))
    : undefined;
  const answered = later ? watch(later) : () => false;
  const isOver = () => answered() || isChanged();
  try {
    for (let asked: ParkQuestion | undefined = askedAbout(run, about); asked; ) {
      const decision = isOver() ? undefined : await parkUnless(run, asked, isOver);
      if (!decision) break;
      const result = await outcomeOf(run, about, asked, decision);
      asked = 'code' in result ? result : undefined;
      if (!('code' in result)) record(run, result);
    }
    if (later && answered()) record(run, laterOutcome(await later));
  } finally {
    asking.cancel();
  }
}

/** Waits a window for a later order, again and again while creates of other orders fail. */
async function letOthersGoFirst(run: OrderRun, waitsFor: Awaited, isChanged: () => boolean): Promise<void> {
  enterPhase(run, 'uncertain', AWAITED[waitsFor]);
  const forMs = run.strictest.pace?.settleWindowMs.atOnce ?? 0;
  const overAtMs = Date.now() + OUTAGE_WINDOWS * forMs;
  do {
    const asking = new CancellationScope();
    const pending = asking.run(() => awaitShown(run, 'later', forMs));
    const answered = watch(pending);
    await condition(() => answered() || isChanged());
    if (!answered()) return asking.cancel();
    const seen = await pending;
    // If the service hides an accepted order, the outage is over, and a person is asked.
    if (seen.kind === 'absent' && !seen.control?.whole) return;
    // A worker that was started in the outage does not know of it.
    const isUntold = seen.kind === 'absent' && seen.control?.later === undefined && !seen.control?.othersFail;
    if (waitsFor === 'an accepted order' && isUntold && Date.now() < overAtMs) continue;
    record(run, laterOutcome(seen));
  } while (waitsFor === 'an accepted order' && !isChanged());
}

type Awaited = NonNullable<Extract<Question, { kind: 'uncertain' }>['waitsFor']>;

const AWAITED: Record<Awaited, string> = {
  'a later order':
    'an order that the service accepts after it (an unsent one goes first, or a canary): then this one is sent again',
  'an accepted order': 'the end of an outage, since creates of other orders fail, too: then this one is sent again',
};

const waitsForLater = (about: Question): boolean =>
  about.kind === 'hidden' || (about.kind === 'uncertain' && about.waitsFor !== undefined);

/**
 * Reads the order once the service shows what is awaited, or after `forMs`. The server repeats this
 * without history.
 */
async function awaitShown(run: OrderRun, awaits: LookUpInput['awaits'], forMs?: number): Promise<Seen> {
  const { doubt = run.facts.absence?.doubt } = run.facts;
  const summary = 'Does the service show what it accepted?';
  const limit = forMs !== undefined && { forMs };
  return seenIn(run, await lookUp(run, { summary, sentUntilMs: doubt?.untilMs, awaits, ...limit }));
}

const laterOutcome = (seen: Seen): Outcome =>
  seen.kind === 'absent' ? { kind: 'later', control: seen.control ?? { whole: true } } : { kind: 'seen', seen };

const CONTINUES =
  'This order continues by itself once it shows one whose id is as long and has the same kinds of characters. Of several such orders, decide one: the others follow';

export const heldQuestion = (reason: string): ParkQuestion => ({
  code: 'held',
  reason,
  allowed: ['release', 'refuse'],
});

function askedAbout(run: OrderRun, about: Question): ParkQuestion {
  switch (about.kind) {
    case 'conflict': {
      const { reason, ours, candidates } = about.conflict;
      if (!isFollowable(about.conflict)) return { code: 'conflict', reason, allowed: ['close-absent'] };
      return { code: 'conflict', reason, allowed: ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent'], candidates };
    }
    case 'uncertain': {
      const waits = about.waitsFor ? `; ${NONE_LATER}. ${CONTINUES}` : '';
      const reason = `${uncertainty(run, about.absence)}${waits}`;
      return { code: 'uncertain-create', reason, allowed: [...resendOf(run), 'close-absent', 'adopt'] };
    }
    case 'hidden': {
      const reason = `${about.doubt.said}; ${HIDES}, so nothing that it does not show is absent${place(run)}`;
      // Who confirmed the account may also say that nothing was executed there.
      const said = about.doubt.place === 'confirmed' ? resendOf(run) : [];
      return { code: 'uncertain-create', reason, allowed: [...said, 'close-absent', 'adopt'] };
    }
    case 'missing': {
      const orderUuid = run.input.recovered?.order_uuid ?? '';
      const reason = `the order list showed order ${orderUuid}, and now ${showsNone(run)}`;
      const candidates = [{ order_uuid: orderUuid }];
      return { code: 'order-missing', reason, allowed: ['adopt', 'close-absent'], candidates };
    }
    case 'late': {
      const reason = `nothing was sent: ${timeHasPassed(run)}`;
      return { code: 'not-sent', reason, allowed: ['resend', 'close-absent'] };
    }
    case 'notSent': {
      const what = wasEverInDoubt(run.facts) ? 'not sent again' : 'nothing was sent';
      return { code: 'not-sent', reason: `${what}: ${about.why}`, allowed: ['resend', 'close-absent'] };
    }
    case 'held':
      return heldQuestion(about.why);
    case 'overCap':
      return { code: 'over-cap', reason: about.why, allowed: ['approve', 'refuse'], toApprove: about.toApprove };
    case 'short': {
      const { why, toApprove } = about;
      return { code: 'short-of-funds', reason: why, allowed: ['resend', 'refuse', 'approve'], toApprove };
    }
    case 'policy': {
      const isOne = about.rules.every(({ approvers }) => approvers === 1);
      const reason = `${about.why}${isOne ? '. Needs 1 approval, has 0: the next one sends it' : ''}`;
      return { code: 'policy', reason, allowed: ['approve', 'refuse'] };
    }
  }
}

/** After its latest send time, or recovered, an order is not sent again, whoever decides. */
const resendOf = ({ facts, input }: OrderRun): ParkQuestion['allowed'] =>
  facts.late === 'over' || input.recovered ? [] : ['resend'];

const timeHasPassed = (run: OrderRun): string =>
  `the time that it was to start at has passed (${timeShown(new Date(startsAtMs(run)).toISOString())})`;
const OVER = 'its latest send time is over, so nothing is sent any more';

/** Returns everything that speaks against another send. */
function uncertainty(run: OrderRun, { doubt, control }: Absence): string {
  const { callback, cancelled: isCancelled, late, everDoubted, refused } = run.facts;
  return [
    `${doubt.said}, and ${showsNone(run)}`,
    callback === 'none' ? '' : CALLED_BACK,
    isCancelled ? '; it was cancelled' : '',
    late === undefined ? '' : `; ${late === 'over' ? OVER : timeHasPassed(run)}`,
    place(run),
    isFollowUp(run) && everDoubted.some(({ cause }) => cause === 'reset')
      ? '; another follow-up may have been sent in its place since'
      : '',
    refused && !control.later ? `; ${NONE_LATER}` : '',
  ].join('');
}

const place = ({ facts }: OrderRun): string =>
  !isPlaceUnknown(facts) ? '' : facts.refused ? EARLIER_PLACE_UNKNOWN : PLACE_UNKNOWN;

const PLACE_UNKNOWN = '; where its create went is not known: make sure that this is the account';
const EARLIER_PLACE_UNKNOWN =
  '; where an earlier create went is not known: look for it at every account that it may have gone to';
