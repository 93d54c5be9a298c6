import { maskWords } from '../../contract/masking.js';
import type { LookUpReading } from '../../contract/order/answers.js';
import type { DecideAction, Decision } from '../../contract/order/messages.js';
import { lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import { closeCancelled, closeUnresolved, closeWithoutOrder } from '../order/end.js';
import { parkUnless } from '../order/park.js';
import { neverSent, nothingSent, type OrderRun, showsNone } from '../order/run.js';
import { CREATE_TIMEOUT_MS } from '../profiles.js';
import { type Conflict, type Ours, seenIn } from './adopt.js';
import { settle } from './settle.js';

/** Callbacks that make a parked run look again; more would let a flood of forged ones cost look-ups. */
const MAX_LOOKS = 20;

/** What a person is asked while no order of ours is known. */
export interface Question {
  reason: string;
  allowed: DecideAction[];
  /** Late callbacks have this order looked up instead of our order id. */
  orderUuid?: string;
  /** What is asked about, where something under our id is not simply our order: then nothing is sent any more. */
  conflict?: Conflict;
}

/**
 * THE place where an order that is not known waits for a person. Callbacks are heard all the while: an earlier create may
 * turn out to have been executed. Returns our order; undefined when the person wants it sent, which only some may decide.
 */
export async function askPerson(run: OrderRun, first: Question): Promise<Ours | undefined> {
  let question = first;
  let looks = 0;
  const cancelled = () => run.cancelRequested && !question.conflict && nothingSent(run);
  const isCalled = () => run.callbackPending && looks < MAX_LOOKS;
  for (;;) {
    const { reason, allowed } = question;
    const decision = await parkUnless(run, reason, allowed, () => cancelled() || isCalled());
    if (decision?.action === 'resend') return undefined;
    if (decision?.action === 'close-absent') return closeIfAbsent(run, decision.by);
    if (!decision && cancelled()) closeCancelled(run);
    if (!decision) looks += 1;
    const next = await (decision ? adoptChosen(run, decision, question) : lookAgain(run, question));
    if ('order' in next) return next;
    question = next;
  }
}

/** A callback came late: our order, or what to ask from here on. */
async function lookAgain(run: OrderRun, question: Question): Promise<Ours | Question> {
  const { orderUuid, conflict } = question;
  run.callbackPending = false;
  enterPhase(run, 'uncertain', 'a look-up: a callback came late');
  const options = { summary: 'A late callback: is it there?', alarm: true, ...(orderUuid && { orderUuid }) };
  const seen = seenIn(run, await lookUp(run, options));
  if (seen.kind === 'ours') return seen;
  if (seen.kind === 'absent') return question;
  if (!conflict) return meetConflict(run, seen);
  // A person is asked about a conflict already: it only matters more when our order has come to be shown.
  return seen.ours.length > 0 ? questionAbout(seen) : question;
}

/** Takes what a look-up found: our order, or something under our id that is not. Undefined where nothing is there. */
export async function takeReading(run: OrderRun, reading: LookUpReading): Promise<Ours | undefined> {
  const seen = seenIn(run, reading);
  if (seen.kind === 'absent') return undefined;
  return seen.kind === 'ours' ? seen : meetConflict(run, seen);
}

/**
 * A conflict seen by a single look-up. Before our first send nobody is in doubt about an order of somebody else, and the
 * workflow fails; afterwards ours may be on its way beside it, so a person is asked only after a full settle.
 */
export async function meetConflict(run: OrderRun, conflict: Conflict): Promise<Ours> {
  if (conflict.ours.length > 0) return resolveConflict(run, conflict);
  if (neverSent(run)) {
    const advice = 'Find out whose it is; if it is this payment, start it with its own input and --again';
    closeWithoutOrder(run, 'OrderConflict', `${conflict.reason}. This run sent nothing. ${advice}`);
  }
  // Without a send of its own this run was reset: the run before may have an attempt that is still alive.
  const seen = await settle(run, conflict.reason, run.sends.count === 0 ? CREATE_TIMEOUT_MS : 0);
  if (seen.kind === 'ours') return seen;
  return resolveConflict(run, seen.kind === 'conflict' ? seen : conflict);
}

/**
 * THE end of every conflict; nothing is sent any more, whatever becomes of the other order. A person names the order to
 * follow, which passes the echo check once more, or has the order closed where none of those shown is ours.
 */
export async function resolveConflict(run: OrderRun, conflict: Conflict): Promise<Ours> {
  run.conflict = conflict.reason;
  // 'resend' is not among what may be decided.
  return (await askPerson(run, questionAbout(conflict))) as Ours;
}

const questionAbout = (conflict: Conflict): Question => ({
  reason: conflict.reason,
  allowed: conflict.ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent'],
  conflict,
});

/** Settles; a conflict is for a person. Undefined when absence was proven. `refused`: what a person is told besides. */
export async function settleOrAsk(
  run: OrderRun,
  reason: string,
  { countAfterMs = 0, sentUntilMs, refused }: { countAfterMs?: number; sentUntilMs?: number; refused?: string } = {},
): Promise<Ours | undefined> {
  const seen = await settle(run, reason, countAfterMs, sentUntilMs);
  if (seen.kind === 'absent') return undefined;
  if (seen.kind === 'ours') return seen;
  return resolveConflict(run, refused ? { ...seen, reason: `${seen.reason}; ${refused}` } : seen);
}

/**
 * A person wants an uncertain order closed. Their word is not enough: absence is proven once more, in full. Once a create
 * was sent, an order seen under our id even once may be what came of it: then nothing says that none of ours exists.
 */
export async function closeIfAbsent(run: OrderRun, decidedBy: string): Promise<Ours> {
  const by = maskWords(decidedBy);
  const end = await settle(run, 'absence is proven once more before closing');
  if (end.kind === 'ours') return end;
  if (end.kind === 'conflict' && end.ours.length > 0) return resolveConflict(run, end);
  // Absence was read at the account that is asked now; the one that it was sent to may be another.
  const unknownPlace = run.sends.placeUnknown && `${showsNone(run)}, but where it was sent to is not known`;
  const doubt = end.kind === 'conflict' ? end.reason : (run.conflict ?? unknownPlace);
  if (!doubt) {
    closeWithoutOrder(run, 'OrderAbsent', `order ${run.orderId}: ${showsNone(run)}; closed as absent by ${by}`);
  }
  if (neverSent(run) && !run.sends.refused) {
    closeWithoutOrder(run, 'OrderConflict', `${doubt}, and none is ours; closed as absent by ${by}`);
  }
  closeUnresolved(run, `${doubt}; a create was sent, so it may be this payment; closed by ${by}`);
}

/**
 * Takes the order a person named, if it is ours. One that is not like ours is taken only where it has our id and the person
 * named exactly the fields in which it differs: then they saw both values. Otherwise what to ask from here on.
 */
async function adoptChosen(run: OrderRun, decision: Decision, question: Question): Promise<Ours | Question> {
  const { order_uuid: orderUuid, differences: named = [] } = decision;
  const by = maskWords(decision.by);
  enterPhase(run, 'uncertain', `a look-up of the order that ${by} chose`);
  const reading = await lookUp(run, { summary: 'Look up the chosen order', orderUuid, alarm: true });
  const seen = seenIn(run, reading);
  if (seen.kind === 'ours') return seen;
  const chosen = `the order ${orderUuid}, which ${by} chose,`;
  if (reading.kind === 'absent') {
    const said = reading.said ? ` (order/status answers ${reading.said})` : '';
    return askAgain(question, `${chosen} is not shown by the service now${said}`);
  }
  // Another payment named by mistake is no conflict about our id: all of the decisions stay open.
  const hasOurId = reading.kind === 'found' && reading.order.user_order_id === run.orderId;
  if (!hasOurId || seen.kind === 'absent') return askAgain(question, `${chosen} is another payment`);
  const { order, differences, soft } = reading;
  if (named.length > 0 && isSameSet(named, differences)) {
    return { kind: 'ours', order, how: 'adopted', soft, overruled: differences };
  }
  // What has our id ends every thought of sending again.
  if (question.allowed.includes('resend')) return meetConflict(run, seen);
  const advice = `to adopt it all the same, name exactly these fields as differences: ${differences.join(',')}`;
  return askAgain(question, `${chosen} is another payment by what it shows: ${seen.reason}; ${advice}`);
}

/** The same question, after what became of a choice; what the conflict is about stays in sight. */
function askAgain(question: Question, why: string): Question {
  const about = question.conflict?.reason;
  return { ...question, reason: about && !why.includes(about) ? `${about}. ${why}` : why };
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));
