import { toAmount } from '../../contract/money.js';
import { followUpOrderId } from '../../contract/names.js';
import type { FollowUpCheck, OutcomeReading, Payers } from '../../contract/order/activities.js';
import { type Basis, basisDifferences, basisOf } from '../../contract/order/basis.js';
import type { RevertTarget } from '../../contract/order/input-and-result.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import { type Assessment, lostInWords, type Sent } from './assess.js';
import { chargedSides, payerDoubts } from './checks.js';
import { afterFollowUp, type FollowUp, type Funds, followUpCosts, followUpOrder, type Named } from './moves.js';
import { isUnfinished, type Offer, offerByPolicy, totalOf } from './offers.js';

interface Choice {
  offer: Offer;
  named: Named;
  /** Set if an operator chose it: whether they knew of the cancellation. */
  decided?: { afterCancel: boolean };
}

/** Everything known about a final order. `nextMove` decides by nothing else. */
export interface MoveFacts {
  assessment: Assessment;
  choice?: Choice;
  /** The reading before this one. Without a choice, a callback led to this one. */
  before?: Assessment;
  /** Whether limits and balance allow it. `isOld`: the reading may have changed meanwhile. */
  check?: FollowUpCheck & { isOld: boolean };
  /** The follow-up that ended last. */
  ended?: Sent;
  /** An operator ends the order as it is. */
  accepted?: TakenDecision;
  cancelled: boolean;
  /** Why no policy moves money, only an operator. */
  onlyByPerson?: string;
  revertTo?: RevertTarget;
  /** Payers by later rates. */
  laterPayers?: Payers;
}

export type NextMove =
  | { do: 'ask'; why: string; doubts?: string[] }
  | { do: 'read again'; choice: Choice }
  | { do: 'check'; followUp: FollowUp }
  /** `exists`: a lost run has sent it, so it is adopted. */
  | { do: 'follow up'; followUp: FollowUp; choice: Choice; basis: Basis[]; exists: boolean; payers?: Payers }
  | { do: 'read after it'; ended: Sent }
  | { do: 'end'; as: Ending };

/** How compensation ends. 'reported' moves nothing. */
export type Ending =
  | { kind: 'nothing left' }
  | { kind: 'reported' }
  | { kind: 'not possible'; why: string }
  | { kind: 'followed up'; last: Sent; costs: string | undefined; funds: Funds }
  | { kind: 'accepted'; by: string; reason: string };

/** Why an operator is asked about a follow-up that was chosen before the cancellation. */
export const CANCELLED_BEFORE_SEND = 'the workflow was cancelled before the follow-up was sent';

/** Decides what happens to a remainder. The first row that applies holds. */
export function nextMove(facts: MoveFacts): NextMove {
  const { assessment, choice, before, check, ended, accepted, cancelled } = facts;
  // 1. Ends by an operator or a follow-up.
  if (accepted) return endBy(accepted);
  if (ended) return afterIt(assessment, ended);
  // 2. The choice of the policy or of an operator.
  if (!choice) return before ? READINGS_DIFFER : opening(facts);
  // 3. Money moves only after two equal readings, without any doubt.
  if (!before) return { do: 'read again', choice };
  if (!areEqual(before.readings, assessment.readings)) return READINGS_DIFFER;
  if (!stillOffers(assessment, choice.offer)) return { do: 'ask', why: 'the second reading no longer allows it' };
  const followUp = followUpOf(assessment, choice);
  if (!check) return { do: 'check', followUp };
  if (check.isOld) return { do: 'read again', choice };
  // 4. Objections.
  const unsure = unsurePayers(facts, check);
  if (unsure) return unsure;
  if (check.kind === 'belowMinimum' && isOnlyWay(assessment, choice)) {
    return { do: 'end', as: { kind: 'not possible', why: check.reason } };
  }
  const { order_id: orderId } = followUp.request;
  const basis = madeFor(assessment, orderId);
  // This very follow-up may have taken the balance. One that exists is never sent.
  const isShown = basis.some(({ user_order_id }) => user_order_id === orderId);
  const exists = check.kind === 'refused' && isShown;
  // The reason may pass (a balance is topped up), so an operator may decide again.
  if (check.kind !== 'ok' && !exists) return { do: 'ask', why: `the follow-up cannot be sent: ${check.reason}` };
  // A choice before the cancellation does not count.
  if (cancelled && !choice.decided?.afterCancel) return { do: 'ask', why: CANCELLED_BEFORE_SEND };
  if (facts.onlyByPerson && !choice.decided && !isShown) return { do: 'ask', why: facts.onlyByPerson };
  // 5. The send.
  return { do: 'follow up', followUp, choice, basis, exists, payers: check.payers };
}

const READINGS_DIFFER: NextMove = { do: 'ask', why: 'two readings of the order differ' };

const endBy = ({ by, reason }: TakenDecision): NextMove => ({ do: 'end', as: { kind: 'accepted', by, reason } });

/** Before any choice: `report` moves nothing and never parks. */
function opening({ assessment, revertTo }: MoveFacts): NextMove {
  const { row, nothingLeft, policy, lost, offers } = assessment;
  if (nothingLeft && lost.length === 0) return { do: 'end', as: { kind: 'nothing left' } };
  if (policy === 'report' || (policy === 'revert' && row.revert === 'report')) {
    return { do: 'end', as: { kind: 'reported' } };
  }
  const offer = offerByPolicy(offers, row, policy);
  if (!offer) return { do: 'ask', why: row.name };
  return { do: 'read again', choice: { offer, named: revertTo ? { revertTo } : {} } };
}

/** After a follow-up: done, or an operator decides about the rest. */
function afterIt(assessment: Assessment, ended: Sent): NextMove {
  const { case: c, funds, row, doubts, sentDoubts, lost, sent } = assessment;
  const { request, end, move } = ended;
  const costs = followUpCosts(c, move)[0];
  const done = (left: Funds): NextMove => ({ do: 'end', as: { kind: 'followed up', last: ended, costs, funds: left } });
  if (!sent.includes(ended)) {
    const left = lostBeside(assessment, ended).length === 0 && fundsAfter(assessment, ended);
    return left && !isUnfinished(c, left, row, move.action) ? done(left) : { do: 'read after it', ended };
  }
  // A run before a reset may have sent another follow-up under this id.
  if (end.kind === 'unknown' && end.accepted) return endBy(end.accepted);
  const isCertain = doubts.length === 0 && sentDoubts.length === 0 && lost.length === 0;
  if (isCompleted(ended) && isCertain && !isUnfinished(c, funds, row, move.action)) return done(funds);
  return { do: 'ask', why: `the follow-up ${request.order_id} ${end.how}` };
}

/** Returns lost follow-ups other than `ended`, unless no order came of it here. */
export const lostBeside = ({ lost }: Assessment, { request, end }: Sent): Basis[] =>
  lost.filter(({ user_order_id }) => user_order_id !== request.order_id || end.kind === 'none');

function followUpOf({ case: c, sent }: Assessment, { offer, named }: Choice): FollowUp {
  const amount = toAmount(named.cards ? totalOf(named.cards) : offer.amount);
  const orderId = followUpOrderId(c.request.order_id, sent.length + 1);
  return followUpOrder(c, offer.move, amount, orderId, named);
}

/** An operator's part of the amount may be mistyped, so it does not end the order. */
const isOnlyWay = ({ offers, sent }: Assessment, { named }: Choice): boolean =>
  !named.cards && offers.length === 1 && sent.length === 0;

const madeFor = ({ readings, lost }: Assessment, orderId: string): Basis[] => [
  ...readings.map(basisOf),
  ...lost.filter(({ user_order_id }) => user_order_id === orderId),
];

/** Asks if the payers of the order's commissions are in doubt now. */
function unsurePayers({ assessment, laterPayers }: MoveFacts, check: FollowUpCheck): NextMove | undefined {
  const c = { ...assessment.case, laterPayers };
  const doubts = payerDoubts(c, assessment.left);
  if (doubts.length > 0) return { do: 'ask', why: 'who pays its commission is in doubt', doubts };
  if (check.orderPayers || check.kind === 'refused' || chargedSides(c).length === 0) return undefined;
  const reason = `rates do not show the pair of ${c.order.user_order_id} now, and with it who pays its commission`;
  return { do: 'ask', why: `the follow-up cannot be sent: ${reason}` };
}

const stillOffers = ({ offers }: Assessment, { move, amount }: Offer): boolean =>
  offers.some((offer) => offer.move === move && offer.amount.eq(amount));

function areEqual(first: OutcomeReading[], second: OutcomeReading[]): boolean {
  const differs = (reading: OutcomeReading, index: number) => {
    const before = first[index];
    return !before || basisDifferences(basisOf(before), reading).length > 0;
  };
  return first.length === second.length && !second.some(differs);
}

export const isCompleted = ({ end }: Sent): boolean => end.kind === 'final' && end.order.status === 'completed';

/** Returns what a completed follow-up leaves; undefined if only its balance changes show that. */
function fundsAfter({ case: c, funds }: Assessment, { move, type, request, end }: Sent): Funds | undefined {
  // Only its balance changes show what an exchange brought.
  const brings = move.kind !== undefined && type === 'exchange' && factsOf(c.type).paysOut;
  if (end.kind !== 'final' || end.order.status !== 'completed' || brings) return undefined;
  const followUp = { type, request, order: end.order, changes: [] };
  return afterFollowUp(c, funds, { move, amount: request.amount ?? '0', case: followUp, left: {} });
}

/** Returns why the remainder is unknown, by the order, its follow-ups and those of a lost run. */
export const remainderDoubts = ({ doubts, sentDoubts, lost }: Assessment): string[] => [
  ...doubts,
  ...sentDoubts,
  ...lostInWords(lost).filter((words) => !doubts.includes(words)),
];
