import { toAmount } from '../../contract/money.js';
import { followUpOrderId } from '../../contract/names.js';
import type { FollowUpCheck, OutcomeReading, Payers } from '../../contract/order/activities.js';
import { type Basis, basisDifferences, basisOf } from '../../contract/order/basis.js';
import type { RevertTarget } from '../../contract/order/input-and-result.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import type { FinalStatus } from '../../contract/service-objects.js';
import { type Assessment, type LostFollowUp, lostInWords, type Sent } from './assess.js';
import { chargedSides, payerDoubts } from './checks.js';
import { type FollowUp, followUpCosts, followUpOrder, type Named } from './moves.js';
import { isUnfinished, type Offer, offerByPolicy, totalOf } from './offers.js';
import { afterFollowUp } from './purse.js';

/** A move that is wanted, with what was named for it. */
export interface Choice {
  offer: Offer;
  named: Named;
  /** A person decided it who was told that the order was cancelled; never so for what a policy chose. */
  afterCancel?: boolean;
}

/** All that is known once an order is final. Plain data: `nextMove` decides by nothing else. */
export interface MoveFacts {
  /** Its first final status. */
  status: FinalStatus;
  /** The newest reading of the order and its follow-ups. */
  assessment: Assessment;
  choice?: Choice;
  /** The reading before, where it was read once more because of the choice. */
  before?: Assessment;
  /** Whether limits and balance allow it. `isOld`: the answer took so long that the reading may be otherwise by now. */
  check?: FollowUpCheck & { isOld: boolean };
  /** The follow-up that ended last, until something else is chosen. */
  ended?: Sent;
  /** A person ends the order as it is. */
  accepted?: TakenDecision;
  cancelled: boolean;
  /** Where the order's input says that a refund goes. */
  revertTo?: RevertTarget;
  /** What rates said later about who pays the order's commissions. */
  laterPayers?: Payers;
}

/** What a run does next about what its order left. */
export type NextMove =
  | { do: 'ask'; why: string; doubts?: string[] }
  /** A second reading before money moves. */
  | { do: 'read again'; choice: Choice }
  | { do: 'check'; followUp: FollowUp }
  /** `exists`: a run that is lost has sent it, so that the check refused it; it is taken up. */
  | { do: 'follow up'; followUp: FollowUp; choice: Choice; basis: Basis[]; exists: boolean; payers?: Payers }
  | { do: 'read after it'; ended: Sent }
  | { do: 'end'; as: Ending };

/** How compensation ends. 'reported' moves nothing and tells what is left. */
export type Ending =
  | { kind: 'nothing left' }
  | { kind: 'reported' }
  | { kind: 'not possible'; why: string }
  | { kind: 'followed up'; last: Sent; costs: string | undefined }
  | { kind: 'accepted'; by: string; reason: string };

/** Why a person is asked about a follow-up that was wanted before its order was cancelled. */
export const CANCELLED_BEFORE_SEND = 'the workflow was cancelled before the follow-up was sent';

/**
 * THE table that decides what becomes of what an order left, and whether money moves. The first row that applies is taken. Pure:
 * rows of orders, figures and checks stand in `table.ts`, `figures.ts` and `checks.ts`.
 */
export function nextMove(facts: MoveFacts): NextMove {
  const { assessment, choice, before, check, ended, accepted, cancelled } = facts;
  // 1. Ends by a person, and by a follow-up.
  if (accepted) return endBy(accepted);
  if (ended) return afterIt(assessment, ended);
  // 2. What is wanted: by the policy, or by a person.
  if (!choice) return opening(facts);
  // 3. Money moves only after two equal readings, without any doubt.
  if (!before) return { do: 'read again', choice };
  if (!areEqual(before.readings, assessment.readings)) return { do: 'ask', why: 'two readings of the order differ' };
  if (!stillOffers(assessment, choice.offer)) return { do: 'ask', why: 'the second reading no longer allows it' };
  const followUp = followUpOf(assessment, choice);
  if (!check) return { do: 'check', followUp };
  if (check.isOld) return { do: 'read again', choice };
  // 4. What speaks against it.
  const unsure = unsurePayers(facts, check);
  if (unsure) return unsure;
  if (check.kind === 'belowMinimum' && isOnlyWay(assessment, choice)) {
    return { do: 'end', as: { kind: 'not possible', why: check.reason } };
  }
  const { order_id: orderId } = followUp.request;
  const basis = madeFor(assessment, orderId);
  // What took the balance, or the pair's last rates, may be this very follow-up: nothing is sent for one that exists.
  const exists = check.kind === 'refused' && basis.some(({ user_order_id }) => user_order_id === orderId);
  // The figures still hold and the reason may pass (a balance is topped up): it may be decided once more.
  if (check.kind !== 'ok' && !exists) return { do: 'ask', why: `the follow-up cannot be sent: ${check.reason}` };
  // Whoever wanted it did not know that: only what is decided after the cancellation counts.
  if (cancelled && !choice.afterCancel) return { do: 'ask', why: CANCELLED_BEFORE_SEND };
  // 5. The send.
  return { do: 'follow up', followUp, choice, basis, exists, payers: check.payers };
}

const endBy = ({ by, reason }: TakenDecision): NextMove => ({ do: 'end', as: { kind: 'accepted', by, reason } });

/** Before anything was chosen: `report` moves nothing and never parks; another policy may choose, or a person does. */
function opening({ status, assessment, revertTo }: MoveFacts): NextMove {
  const { row, policy, readings, lost, offers } = assessment;
  if (row.nothingLeft && readings[0]?.order.status === status && lost.length === 0) {
    return { do: 'end', as: { kind: 'nothing left' } };
  }
  if (policy === 'report' || (policy === 'revert' && row.revert === 'report')) {
    return { do: 'end', as: { kind: 'reported' } };
  }
  const offer = offerByPolicy(offers, row, policy);
  if (!offer) return { do: 'ask', why: row.name };
  return { do: 'read again', choice: { offer, named: revertTo ? { revertTo } : {} } };
}

/** After a follow-up: done, or something is left that a person has to decide about. */
function afterIt(assessment: Assessment, ended: Sent): NextMove {
  const { case: c, purse, row, doubts, sentDoubts, lost, sent } = assessment;
  const { request, end, move } = ended;
  const done: NextMove = {
    do: 'end',
    as: { kind: 'followed up', last: ended, costs: followUpCosts(c, move)[0] },
  };
  if (!sent.includes(ended)) {
    const others = lostBeside(assessment, ended);
    return others.length === 0 && leavesNothing(assessment, ended) ? done : { do: 'read after it', ended };
  }
  // It may have had its id from a run that was reset since, and that went on to another one.
  if (end.kind === 'unknown' && end.accepted) return endBy(end.accepted);
  const isCertain = doubts.length === 0 && sentDoubts.length === 0 && lost.length === 0;
  if (isCompleted(ended) && isCertain && !isUnfinished(c, purse, row, move.action)) return done;
  return { do: 'ask', why: `the follow-up ${request.order_id} ${end.how}` };
}

/** Lost follow-ups but for one that was taken up, however it ended; one that came to no order here may exist all the same. */
export const lostBeside = ({ lost }: Assessment, { request, end }: Sent): LostFollowUp[] =>
  lost.filter(({ orderId }) => orderId !== request.order_id || end.kind === 'none');

function followUpOf({ case: c, sent }: Assessment, { offer, named }: Choice): FollowUp {
  const amount = toAmount(named.cards ? totalOf(named.cards) : offer.amount);
  const orderId = followUpOrderId(c.request.order_id, sent.length + 1);
  return followUpOrder(c, offer.move, amount, orderId, named);
}

/** A part of the amount that a person named may be mistyped: what is left can still be decided about. */
const isOnlyWay = ({ offers, sent }: Assessment, { named }: Choice): boolean =>
  !named.cards && offers.length === 1 && sent.length === 0;

/** What a follow-up is made for. One that exists already is part of it: it is then taken up and never sent. */
const madeFor = ({ readings, lost }: Assessment, orderId: string): Basis[] => [
  ...readings.map(basisOf),
  ...lost.flatMap(({ orderId: id, basis }) => (id === orderId && basis ? [basis] : [])),
];

/** Who pays the order's own commissions is asked once more when it matters most; undefined = as it was kept. */
function unsurePayers({ assessment, laterPayers }: MoveFacts, check: FollowUpCheck): NextMove | undefined {
  const c = { ...assessment.case, laterPayers };
  const doubts = payerDoubts(c, assessment.left);
  if (doubts.length > 0) return { do: 'ask', why: 'who pays its commission is in doubt', doubts };
  if (check.orderPayers || check.kind === 'refused' || chargedSides(c).length === 0) return undefined;
  const reason = `rates do not show the pair of ${c.order.user_order_id} now, and with it who pays its commission`;
  return { do: 'ask', why: `the follow-up cannot be sent: ${reason}` };
}

/** Without any doubt, the same move over the same amount. */
const stillOffers = ({ offers }: Assessment, { move, amount }: Offer): boolean =>
  offers.some((offer) => offer.move === move && offer.amount.eq(amount));

/** Equal in everything that money depends on. */
function areEqual(first: OutcomeReading[], second: OutcomeReading[]): boolean {
  const differs = (reading: OutcomeReading, index: number) => {
    const before = first[index];
    return !before || basisDifferences(basisOf(before), reading).length > 0;
  };
  return first.length === second.length && !second.some(differs);
}

/** True for a follow-up that did all it was sent for. */
export const isCompleted = ({ end }: Sent): boolean => end.kind === 'final' && end.order.status === 'completed';

/** True where a completed follow-up leaves nothing to do, whatever its balance changes are: they need not be read. */
function leavesNothing({ case: c, purse, row }: Assessment, { move, type, request, end }: Sent): boolean {
  // What an exchange brought is only known from its changes.
  const brings = move.kind !== undefined && type === 'exchange' && factsOf(c.type).paysOut;
  if (end.kind !== 'final' || end.order.status !== 'completed' || brings) return false;
  const followUp = { type, request, order: end.order, changes: [] };
  const after = afterFollowUp(c, purse, { move, amount: request.amount ?? '0', case: followUp, left: {} });
  return !isUnfinished(c, after, row, move.action);
}

/** Why it cannot be told what is left, with the follow-ups of a lost run where they are no doubt yet, since the next one takes them up. */
export const untold = ({ doubts, lost }: Assessment): string[] => [
  ...doubts,
  ...lostInWords(lost).filter((words) => !doubts.includes(words)),
];
