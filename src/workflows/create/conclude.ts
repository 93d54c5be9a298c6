import { ORDER_UNRESOLVED } from '../../contract/failures.js';
import { maskWords } from '../../contract/masking.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { CREATE_TIMEOUT_MS } from '../activity-calls.js';
import { type Closed, closed } from '../order/end.js';
import { type Asked, parkUnless } from '../order/park.js';
import {
  type Candidate,
  isPlaceUnknown,
  knowsOfNoSend,
  noRunEverSent,
  type OrderRun,
  showsNone,
} from '../order/state.js';
import { endCancelled, unlessThere, wantsEnd } from './end-unsent.js';
import { type Conflict, look, MAX_CANDIDATES, type Ours, proveAbsent, type Seen, settle } from './settle.js';

/** Callbacks that make a parked run look again; more would let a flood of forged ones cost look-ups. */
const MAX_LOOKS = 20;

/** What a person is asked while no order of ours is known. */
export interface Question extends Omit<Asked, 'offers'> {
  kind: 'question';
  /** Late callbacks have this order looked up instead of our order id. */
  orderUuid?: string;
  /** What is asked about, where something under our id is not simply our order: then nothing is sent any more. */
  conflict?: Conflict;
  /** 'resend' permits the send itself, and does not only end a wait. `wasLate`: the person is told that the order is late. */
  permits?: { wasLate: boolean };
}

/** What a step of the create came to; undefined and 'absent' = whether to send is to be decided anew. */
export type Step = Seen | Question | Closed | undefined;

/** A person permitted the next send: of a late order only where it was late when they were asked. */
export interface Permitted {
  kind: 'permitted';
  wasLate: boolean;
}

/**
 * Takes what a step came to as far as it goes without another send: to our order, an end, a permission, or undefined. THE
 * place where an order that is not known waits for a person. Callbacks are heard all the while: an earlier create may turn
 * out to have been executed.
 */
export async function conclude(run: OrderRun, first: Step): Promise<Ours | Closed | Permitted | undefined> {
  let looks = 0;
  for (let step = first; ; ) {
    if (step?.kind === 'conflict') step = await meetConflict(run, step);
    if (step?.kind !== 'question') return step?.kind === 'absent' ? undefined : step;
    if (step.conflict) run.conflict = step.conflict.reason;
    const answer = await untilAnswered(run, step, looks < MAX_LOOKS);
    if (answer === 'cancelled') step = await endCancelled(run);
    else if (answer === 'callback') {
      looks += 1;
      step = await lookAgain(run, step);
    } else if (answer.action === 'approve' || answer.action === 'resend') return goOn(run, step, answer);
    else step = await answerTo(run, step, answer);
  }
}

/** Asks whether a create is sent again whose earlier one may have come to an order. `wasLate`: the person is told that the order is late. */
export const askAboutUncertain = (reason: string, wasLate: boolean): Question => ({
  kind: 'question',
  code: 'uncertain-create',
  reason,
  allowed: ['resend', 'close-absent', 'adopt'],
  permits: { wasLate },
});

/** Waits for a decision, or for what makes the question another one: a cancellation or a callback. */
async function untilAnswered(
  run: OrderRun,
  question: Question,
  mayLook: boolean,
): Promise<TakenDecision | 'cancelled' | 'callback'> {
  const { conflict } = question;
  const isCancelled = () => !conflict && wantsEnd(run);
  const hears = mayLook && hearsCallbacks(run, question);
  const decision = await parkUnless(run, question, () => isCancelled() || (hears && run.callbackPending));
  if (!decision && isCancelled()) return 'cancelled';
  return decision ?? 'callback';
}

/** Above a cap, before any send, no callback is about an order of ours, and a cancellation must not wait for a look-up. */
const hearsCallbacks = ({ sends }: OrderRun, { allowed }: Question): boolean =>
  sends.count > 0 || !allowed.includes('approve');

/** A person lets the create go on; only where a send itself was asked about, that permits it. */
function goOn(run: OrderRun, { permits }: Question, { action }: TakenDecision): Permitted | undefined {
  if (action === 'approve') run.approved = true;
  return permits && { kind: 'permitted', ...permits };
}

/** Does what a person decided. */
async function answerTo(run: OrderRun, question: Question, decision: TakenDecision): Promise<Step> {
  const by = maskWords(decision.by);
  if (decision.action === 'adopt') {
    const waitingFor = `a look-up of the order that ${by} chose`;
    const { order_uuid: orderUuid } = decision;
    const seen = await look(run, { waitingFor, summary: 'Look up the chosen order', orderUuid });
    return afterChoice(seen, decision, question, run.orderId);
  }
  // An earlier create may have been executed while this waited: only proven absence may close it.
  if (decision.action === 'close-absent' || !knowsOfNoSend(run)) return closeIfAbsent(run, by);
  const end = () => closed('OrderCancelled', `order ${run.orderId} was refused by ${by}: ${question.reason}`);
  return (await unlessThere(run, end, undefined)) ?? closeIfAbsent(run, by);
}

/** Looks once more, because a callback came late; what that shows may be no reason to ask anything else. */
async function lookAgain(run: OrderRun, question: Question): Promise<Step> {
  run.callbackPending = false;
  const { orderUuid, conflict } = question;
  const waitingFor = 'a look-up: a callback came late';
  const seen = await look(run, { waitingFor, summary: 'A late callback: is it there?', orderUuid });
  if (seen.kind === 'absent') return question;
  // Several orders of ours were shown: which one to follow stays for a person to say, though a lagging list may show fewer now.
  if (conflict && conflict.ours.length > 0) return question;
  // A person is asked about a conflict already: it only matters more when our order has come to be shown.
  return seen.kind === 'conflict' && conflict && seen.ours.length === 0 ? question : seen;
}

/**
 * The order a person named is taken if it is ours. One that is not like ours is taken only where it has our id and the person
 * named exactly the fields in which it differs: then they saw both values. Otherwise what to ask from here on.
 */
function afterChoice(seen: Seen, decision: TakenDecision, question: Question, orderId: string): Step {
  if (seen.kind === 'ours') return seen;
  const { order_uuid: orderUuid, differences: named = [] } = decision;
  const chosen = `the order ${orderUuid}, which ${maskWords(decision.by)} chose,`;
  if (seen.kind === 'absent') {
    const said = seen.said ? ` (order/status answers ${seen.said})` : '';
    return askAgain(question, `${chosen} is not shown by the service now${said}`);
  }
  const { foreign } = seen;
  // Another payment named by mistake is no conflict about our id: all of the decisions stay open.
  if (foreign?.order.user_order_id !== orderId) return askAgain(question, `${chosen} is another payment`);
  const { order, differences, soft } = foreign;
  if (named.length > 0 && isSameSet(named, differences)) {
    return { kind: 'ours', order, how: 'adopted', soft, overruled: differences };
  }
  // What has our id ends every thought of sending again.
  if (question.allowed.includes('resend')) return seen;
  const advice = `to adopt it all the same, name exactly these fields as differences: ${differences.join(',')}`;
  const again = askAgain(question, `${chosen} is another payment by what it shows: ${seen.reason}; ${advice}`);
  return { ...again, candidates: withCandidates(question, seen) };
}

/** The same question, after what became of a choice; what the conflict is about stays in sight. */
function askAgain(question: Question, why: string): Question {
  const about = question.conflict?.reason;
  return { ...question, reason: about && !why.includes(about) ? `${about}. ${why}` : why };
}

/** What was read of an order replaces what was known of it before. */
function withCandidates({ candidates = [] }: Question, { candidates: seen }: Conflict): Candidate[] {
  const others = candidates.filter((one) => seen.every((another) => another.order_uuid !== one.order_uuid));
  return [...seen, ...others].slice(0, MAX_CANDIDATES);
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));

/**
 * A conflict seen by a single look-up. Before our first send nobody is in doubt about an order of somebody else, and the
 * workflow fails; afterwards ours may be on its way beside it, so a person is asked only after a full settle.
 */
async function meetConflict(run: OrderRun, conflict: Conflict): Promise<Ours | Closed | Question> {
  if (conflict.askAtOnce || conflict.ours.length > 0) return questionAbout(conflict);
  if (noRunEverSent(run)) {
    const advice = 'Find out whose it is; if it is this payment, start it with its own input and --again';
    return closed('OrderConflict', `${conflict.reason}. This run sent nothing. ${advice}`);
  }
  // Without a send of its own this run was reset: the run before may have an attempt that is still alive.
  const seen = await settle(run, conflict.reason, run.sends.count === 0 ? CREATE_TIMEOUT_MS : 0);
  if (seen.kind === 'ours') return seen;
  return questionAbout(seen.kind === 'conflict' ? seen : conflict);
}

/**
 * THE end of every conflict; nothing is sent any more, whatever becomes of the other order. A person names the order to
 * follow, which passes the echo check once more, or has the order closed where none of those shown is ours.
 */
function questionAbout(conflict: Conflict): Question {
  const { reason, ours, candidates, foreign } = conflict;
  const question = { kind: 'question', code: 'conflict', reason, conflict } as const;
  // An order under another id could not be followed by ours.
  if (foreign?.differences.includes('order_id')) return { ...question, allowed: ['close-absent'] };
  return { ...question, allowed: ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent'], candidates };
}

/**
 * A person wants an uncertain order closed. Their word is not enough: absence is proven once more, in full. Once a create
 * was sent, an order seen under our id even once may be what came of it: then nothing says that none of ours exists.
 */
async function closeIfAbsent(run: OrderRun, by: string): Promise<Step> {
  const seen = await proveAbsent(run, 'absence is proven once more before closing');
  if (seen.kind === 'ours') return seen;
  if (seen.kind === 'conflict' && seen.ours.length > 0) return seen;
  // Absence was read at the account that is asked now; the one that it was sent to may be another.
  const unknownAccount = isPlaceUnknown(run) && `${showsNone(run)}, but where it was sent to is not known`;
  const doubt = seen.kind === 'conflict' ? seen.reason : (run.conflict ?? unknownAccount);
  if (!doubt) return closed('OrderAbsent', `order ${run.orderId}: ${showsNone(run)}; closed as absent by ${by}`);
  if (noRunEverSent(run) && !run.sends.rejected) {
    return closed('OrderConflict', `${doubt}, and none is ours; closed as absent by ${by}`);
  }
  return closed(ORDER_UNRESOLVED, `${doubt}; a create was sent, so it may be this payment; closed by ${by}`);
}
