import { CancellationScope, condition } from '@temporalio/workflow';
import { ORDER_UNRESOLVED } from '../../contract/failures.js';
import { maskWords } from '../../contract/masking.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { watch } from '../activity-calls.js';
import { type Looking, lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import type { Closed } from '../order/end.js';
import { enterPhase, type ParkQuestion, parkUnless } from '../order/show.js';
import { answeredIn, type OrderRun, orderIdOf, showsNone } from '../order/state.js';
import { adoption } from './adoption.js';
import { type Outcome, record } from './apply-outcome.js';
import { type Absence, isFollowable, isPlaceUnknown, type Seen, seenIn, wasEverInDoubt } from './facts.js';
import type { ClosingDoubt, End, Question } from './next-action.js';

/** Time in which the service accepts no order of the account before an operator is asked. */
const OUTAGE_MS = 60 * 60_000;

/** Keeps the workflow open until an operator decides, or until the question is obsolete (`isChanged`). */
export async function askPerson(run: OrderRun, about: Question, isChanged: () => boolean): Promise<void> {
  const asking = new CancellationScope();
  const later = waitsForLater(about) ? asking.run(() => awaitLater(run)) : undefined;
  const answered = later ? watch(later) : () => false;
  const isOver = () => answered() || isChanged();
  try {
    if (about.kind === 'uncertain' && about.waitsFor === 'an accepted order') {
      enterPhase(run, 'uncertain', 'an order that the service accepts: then this one is sent again');
      await condition(isOver, OUTAGE_MS, { summary: 'Before a person is asked' });
    }
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

/**
 * Returns true for questions about a send, which 'resend' permits. In others, it only ends a wait.
 */
const permits = ({ kind }: Question): boolean => kind === 'uncertain' || kind === 'hidden' || kind === 'late';

const waitsForLater = (about: Question): boolean =>
  about.kind === 'hidden' || (about.kind === 'uncertain' && about.waitsFor !== undefined);

/** Reads the order once the service shows one that it accepted later. The server repeats this without history. */
async function awaitLater(run: OrderRun): Promise<Seen> {
  const { doubt = run.facts.absence?.doubt } = run.facts;
  const summary = 'Does the service show what it accepted later?';
  return seenIn(run, await lookUp(run, { summary, sentUntilMs: doubt?.untilMs, awaitsLater: true }));
}

const laterOutcome = (seen: Seen): Outcome =>
  seen.kind === 'absent' ? { kind: 'later', control: seen.control ?? { whole: true } } : { kind: 'seen', seen };

/** Returns what a decision means for the create, or the next question if it had no effect. */
async function outcomeOf(
  run: OrderRun,
  about: Question,
  asked: ParkQuestion,
  decision: TakenDecision,
): Promise<Outcome | ParkQuestion> {
  const by = maskWords(decision.by);
  const atMs = Date.now();
  switch (decision.action) {
    case 'adopt': {
      const asking = { summary: 'Look up the chosen order', orderUuid: decision.order_uuid };
      const seen = await look(run, `a look-up of the order that ${by} chose`, asking);
      const conflict = about.kind === 'conflict' ? about.conflict : undefined;
      return adoption(run, conflict, asked, seen, { ...decision, by });
    }
    case 'close-absent':
      return { kind: 'closing', by, atMs };
    case 'refuse':
      return { kind: 'closing', by, refused: asked.reason, atMs };
    case 'release':
      return { kind: 'released' };
    case 'approve':
      if (about.kind === 'short') {
        run.funds.isGranted = true;
        return { kind: 'unblocked' };
      }
      if (about.kind === 'policy') return approvalOfRules(run, about, asked, decision.by);
      run.approved.amount = about.kind === 'overCap' ? about.toApprove : undefined;
      return { kind: 'unblocked' };
    default:
      if (about.kind === 'short') return { kind: 'awaits' };
      return permits(about) ? { kind: 'permitted', readIn: answeredIn(run) } : { kind: 'unblocked' };
  }
}

/** Counts a person's approval of every breached rule. Asks again until enough persons approved. */
function approvalOfRules(
  run: OrderRun,
  { why, rules }: Extract<Question, { kind: 'policy' }>,
  asked: ParkQuestion,
  person: string,
): Outcome | ParkQuestion {
  const { rules: before } = run.approved;
  const others = before.filter(({ rule }) => rules.every((one) => one.rule !== rule));
  const approved = rules.map(({ rule, approvers }) => {
    const { by = [] } = before.find((one) => one.rule === rule) ?? {};
    return { rule, approvers, by: [...new Set([...by, person])] };
  });
  run.approved.rules = [...others, ...approved];
  const lacking = approved.filter(({ by, approvers }) => by.length < approvers);
  if (lacking.length === 0) return { kind: 'unblocked' };
  const missing = lacking.map(({ rule, by, approvers }) => {
    return `${rule}: approved by ${by.map(maskWords).join(' and ')}, ${approvers - by.length} more must approve`;
  });
  return { ...asked, reason: `${why}. ${missing.join('; ')}` };
}

const HIDES = 'the service does not show orders that it confirmed';
const NONE_LATER = 'the service shows no order that it accepted later, by which its answers would be known to be new';
const CONTINUES =
  'This order continues by itself once it shows one whose id is as long and has the same kinds of characters';
const CALLED_BACK = '; but a callback came for it: the service may have executed it';

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
      const send: ParkQuestion['allowed'] = run.facts.late === 'over' ? [] : ['resend'];
      return { code: 'uncertain-create', reason, allowed: [...send, 'close-absent', 'adopt'] };
    }
    case 'hidden': {
      const reason = `${about.doubt.said}; ${HIDES}, so nothing that it does not show is absent`;
      // Who confirmed the account may also say that nothing was executed there.
      const said: ParkQuestion['allowed'] = about.doubt.place === 'confirmed' ? ['resend'] : [];
      return { code: 'uncertain-create', reason, allowed: [...said, 'close-absent', 'adopt'] };
    }
    case 'missing': {
      const orderUuid = run.input.recovered?.order_uuid ?? '';
      const reason = `the order list showed order ${orderUuid}, and now ${showsNone(run)}`;
      const candidates = [{ order_uuid: orderUuid }];
      return { code: 'order-missing', reason, allowed: ['adopt', 'close-absent'], candidates };
    }
    case 'late': {
      const reason = `nothing was sent: ${TIME_HAS_PASSED}`;
      return { code: 'not-sent', reason, allowed: ['resend', 'close-absent'] };
    }
    case 'notSent': {
      const what = wasEverInDoubt(run.facts) ? 'not sent again' : 'nothing was sent';
      return { code: 'not-sent', reason: `${what}: ${about.why}`, allowed: ['resend', 'close-absent'] };
    }
    case 'held':
      return { code: 'held', reason: about.why, allowed: ['release', 'refuse'] };
    case 'overCap':
      return { code: 'over-cap', reason: about.why, allowed: ['approve', 'refuse'], toApprove: about.toApprove };
    case 'short': {
      const { why, toApprove } = about;
      return { code: 'short-of-funds', reason: why, allowed: ['resend', 'refuse', 'approve'], toApprove };
    }
    case 'policy':
      return { code: 'policy', reason: about.why, allowed: ['approve', 'refuse'] };
  }
}

const TIME_HAS_PASSED = 'the time that it was to start at has passed';
const OVER = 'its latest send time is over, so nothing is sent any more';

/** Returns everything that speaks against another send. */
function uncertainty(run: OrderRun, { doubt, control }: Absence): string {
  const { callback, cancelled: isCancelled, late, everDoubted, refused } = run.facts;
  return [
    `${doubt.said}, and ${showsNone(run)}`,
    callback === 'none' ? '' : CALLED_BACK,
    isCancelled ? '; it was cancelled' : '',
    late === undefined ? '' : `; ${late === 'over' ? OVER : TIME_HAS_PASSED}`,
    !isPlaceUnknown(run.facts) ? '' : refused ? EARLIER_PLACE_UNKNOWN : PLACE_UNKNOWN,
    isFollowUp(run) && everDoubted.some(({ cause }) => cause === 'reset')
      ? '; another follow-up may have been sent in its place since'
      : '',
    refused && !control.later ? `; ${NONE_LATER}` : '',
  ].join('');
}

const PLACE_UNKNOWN = '; where its create went is not known: make sure that this is the account';
const EARLIER_PLACE_UNKNOWN =
  '; where an earlier create went is not known: look for it at every account that it may have gone to';

function doubtOf(run: OrderRun, doubt: ClosingDoubt): string {
  const { found } = run.facts;
  switch (doubt) {
    case 'conflict':
      return found?.kind === 'conflict' ? found.reason : 'another order has its id';
    case 'place':
      return `${showsNone(run)}, but where it was sent to is not known`;
    case 'hidden':
      return HIDES;
    case 'callback':
      return `${showsNone(run)}${CALLED_BACK}`;
    case 'noLater':
      return `${showsNone(run)}, but ${NONE_LATER}`;
  }
}

/** Returns the end of a run without an order, in words. */
export function closedAs(run: OrderRun, end: End): Closed {
  const orderId = orderIdOf(run);
  switch (end.type) {
    case 'OrderCancelled': {
      if (end.refusedBy) return [end.type, `order ${orderId} was refused by ${end.refusedBy}: ${end.why}`];
      if (end.why) return [end.type, `order ${orderId} was not sent: ${end.why}`];
      return [end.type, `order ${orderId} was cancelled before anything was sent`];
    }
    case 'OrderRejected':
      return rejected(run, end.answer);
    case 'OrderConflict': {
      const advice = 'Find out whose it is; if it is this payment, start it with its own input and --again';
      return [end.type, `${end.conflict.reason}. This run sent nothing. ${advice}`];
    }
    case 'closed': {
      if (!end.doubt) return ['OrderAbsent', `Order "${orderId}" was closed by ${end.by}: ${showsNone(run)}`];
      const doubt = doubtOf(run, end.doubt);
      if (!end.mayHaveSent) return ['OrderConflict', `${doubt}, and none is ours; closed as absent by ${end.by}`];
      return [ORDER_UNRESOLVED, `${doubt}; a create was sent, so it may be this payment; closed by ${end.by}`];
    }
  }
}

export function rejected(run: OrderRun, answer: string): Closed {
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  const message = `the service refused the create of ${orderIdOf(run)} (${answer}), and ${showsNone(run)}. ${advice}`;
  return ['OrderRejected', message, { answer }];
}

export async function look(run: OrderRun, waitingFor: string, asking: Looking): Promise<Seen> {
  enterPhase(run, wasEverInDoubt(run.facts) ? 'uncertain' : 'creating', waitingFor);
  return seenIn(run, await lookUp(run, { ...asking, alarm: true }));
}
