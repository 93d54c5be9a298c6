import { sleep } from '@temporalio/workflow';
import { maskWords } from '../../contract/masking.js';
import { toAmount } from '../../contract/money.js';
import { followUpOrderId } from '../../contract/names.js';
import type { FollowUpCheck, OutcomeReading } from '../../contract/order/activities.js';
import { type Basis, basisDifferences, basisOf } from '../../contract/order/basis.js';
import type { CompensationResult, OrderResult } from '../../contract/order/input-and-result.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import { ask } from '../ask/ask.js';
import { resultOf } from '../order/end.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { notePayers, type OrderRun } from '../order/state.js';
import { type Assessment, assess, lostInWords, type Sent } from './assess.js';
import { chargedSides, payerDoubts } from './checks.js';
import { remainders } from './figures.js';
import { type FollowUp, followUpCosts, followUpOrder, type Named } from './moves.js';
import { isUnfinished, type Offer, totalOf } from './offers.js';
import { afterFollowUp } from './purse.js';
import { followExisting, sendFollowUp } from './send-follow-up.js';

/** What is to be done next: a move, with what was named for it. */
export interface Choice {
  offer: Offer;
  named: Named;
  /** A person decided it who was told that the order was cancelled; never so for what a policy chose. */
  afterCancel?: boolean;
}

/** Why a person is asked about a follow-up that was wanted before its order was cancelled. */
export const CANCELLED_BEFORE_SEND = 'the workflow was cancelled before the follow-up was sent';

/** The end of compensation, or a new assessment in which a person has to decide, and why. */
type AfterMove = { result: OrderResult } | { assessment: Assessment; why: string };

/**
 * THE place where compensation moves money. Everything must hold: an offer made without any doubt about the figures, a
 * second equal reading after ORDER_CONFIRM_DELAY, limits, precision and balance. Anything else goes to a person.
 */
export async function moveMoney(run: OrderRun, first: Assessment, choice: Choice): Promise<AfterMove> {
  const { offer, named, afterCancel } = choice;
  const amount = toAmount(named.cards ? totalOf(named.cards) : offer.amount);
  const orderId = followUpOrderId(run.request.order_id, first.sent.length + 1);
  const followUp = followUpOrder(first.case, offer.move, amount, orderId, named);
  enterPhase(run, 'compensating', 'the second reading before money moves');
  await sleep(run.pace?.confirmDelayMs ?? 0, { summary: 'Two equal readings before money moves' });
  const assessment = await assess(run, first.sent, first);
  if (!sameReadings(first.readings, assessment.readings))
    return { assessment, why: 'two readings of the order differ' };
  if (!stillOffers(assessment, offer)) {
    return { assessment, why: 'the second reading no longer allows it' };
  }
  const readAtMs = Date.now();
  const check = await checkFollowUp(run, followUp);
  notePayers(run, check.orderPayers);
  // What was read may be otherwise by now: the service could not be asked for long.
  if (Date.now() - readAtMs > ATTENTION_AFTER_MS) return moveMoney(run, assessment, choice);
  const unsure = unsurePayers(run, assessment, check);
  if (unsure) return unsure;
  // A part of the amount that a person named may be mistyped: what is left can still be decided about.
  if (check.kind === 'belowMinimum' && !named.cards && assessment.offers.length === 1 && assessment.sent.length === 0) {
    raiseAttention(run, 'below-minimum', [check.reason, ...untold(assessment)].join('; '));
    return { result: concluded(run, assessment, { status: 'not_possible', reason: check.reason }) };
  }
  const basis = madeFor(assessment, orderId);
  // What took the balance, or the pair's last rates, may be this very follow-up: nothing is sent for one that exists.
  const exists = check.kind === 'refused' && basis.some(({ user_order_id }) => user_order_id === orderId);
  // The figures still hold and the reason may pass (a balance is topped up): it may be decided once more.
  if (check.kind !== 'ok' && !exists) return { assessment, why: `the follow-up cannot be sent: ${check.reason}` };
  // Whoever wanted it did not know that: only what is decided after the cancellation counts.
  if (run.cancelRequested && !afterCancel) return { assessment, why: CANCELLED_BEFORE_SEND };
  enterPhase(run, 'compensating', `the follow-up ${orderId}`);
  const end = exists ? await followExisting(run, followUp) : await sendFollowUp(run, followUp, basis);
  return goOn(run, assessment, { ...followUp, move: offer.move, payers: check.payers, end });
}

/** What a follow-up is made for. One that exists already is part of it: it is then taken up and never sent. */
const madeFor = ({ readings, lost }: Assessment, orderId: string): Basis[] => [
  ...readings.map(basisOf),
  ...lost.flatMap(({ orderId: id, basis }) => (id === orderId && basis ? [basis] : [])),
];

/** Who pays the order's own commissions is asked once more when it matters most; undefined = as it was kept. */
function unsurePayers(run: OrderRun, assessment: Assessment, check: FollowUpCheck): AfterMove | undefined {
  const c = { ...assessment.case, laterPayers: run.laterPayers };
  const doubts = payerDoubts(c, assessment.left);
  // Nothing may be done any more.
  const doubted = { ...assessment, doubts, offers: [] };
  if (doubts.length > 0) return { assessment: doubted, why: 'who pays its commission is in doubt' };
  if (check.orderPayers || check.kind === 'refused' || chargedSides(c).length === 0) return undefined;
  const reason = `rates do not show the pair of ${run.orderId} now, and with it who pays its commission`;
  return { assessment, why: `the follow-up cannot be sent: ${reason}` };
}

/** Without any doubt, the same move over the same amount. */
const stillOffers = ({ offers }: Assessment, { move, amount }: Offer): boolean =>
  offers.some((offer) => offer.move === move && offer.amount.eq(amount));

/** After a follow-up: done, or something is left that a person has to decide about. */
async function goOn(run: OrderRun, before: Assessment, sent: Sent): Promise<AfterMove> {
  const { request, end } = sent;
  if (end.kind === 'unknown' && end.accepted) {
    const { by, reason } = end.accepted;
    enterPhase(run, 'compensating', 'the balance changes of the order');
    // It may have had its id from a run that was reset since, and that went on to another one.
    const now = await assess(run, [...before.sent, sent], before);
    return { result: endedWith(run, now, sent, `${end.how}; ${acceptedBy(by, reason)}`) };
  }
  const costs = followUpCosts(before.case, sent.move)[0];
  const others = withoutLast(before, sent).lost;
  if (others.length === 0 && endsIt(before, sent)) return { result: endedWith(run, before, sent, costs) };
  const assessment = await assess(run, [...before.sent, sent], before);
  const { case: c, purse, row, lost } = assessment;
  const certain = assessment.doubts.length === 0 && assessment.sentDoubts.length === 0 && lost.length === 0;
  if (isCompleted(sent) && certain && !isUnfinished(c, purse, row, sent.move.action)) {
    return { result: endedWith(run, assessment, sent, costs) };
  }
  return { assessment, why: `the follow-up ${request.order_id} ${end.how}` };
}

/** True for a follow-up that did all it was sent for. */
export const isCompleted = ({ end }: Sent): boolean => end.kind === 'final' && end.order.status === 'completed';

/** True where a completed follow-up leaves nothing to do, whatever its balance changes are: they need not be read. */
function endsIt({ case: c, purse, row }: Assessment, { move, type, request, end }: Sent): boolean {
  // What an exchange brought is only known from its changes.
  const brings = move.kind !== undefined && type === 'exchange' && factsOf(c.type).paysOut;
  if (end.kind !== 'final' || end.order.status !== 'completed' || brings) return false;
  const followUp = { type, request, order: end.order, changes: [] };
  const after = afterFollowUp(c, purse, { move, amount: request.amount ?? '0', case: followUp, left: {} });
  return !isUnfinished(c, after, row, move.action);
}

/** How a reason says that a person ended the order as it is; reports show it, so that their words are masked. */
export const acceptedBy = (by: string, reason: string): string => `accepted by ${maskWords(by)}: ${maskWords(reason)}`;

/** The result after the last follow-up. */
export function endedWith(run: OrderRun, s: Assessment, last: Sent, reason?: string): OrderResult {
  const { end, request } = last;
  return concluded(run, withoutLast(s, last), {
    status: isCompleted(last) ? 'done' : 'failed',
    order_id: request.order_id,
    outcome: end.kind === 'final' ? end.outcome : undefined,
    reason,
  });
}

/** The last follow-up was taken up, however it ended; one that came to no order here may exist all the same. */
function withoutLast(s: Assessment, { request, end }: Sent): Assessment {
  if (end.kind === 'none') return s;
  return { ...s, lost: s.lost.filter(({ orderId }) => orderId !== request.order_id) };
}

/** Why it cannot be told what is left, with the follow-ups of a lost run where they are no doubt yet, since the next one takes them up. */
export const untold = ({ doubts, lost }: Assessment): string[] => [
  ...doubts,
  ...lostInWords(lost).filter((words) => !doubts.includes(words)),
];

/** The result of an order that was assessed: what it left before any follow-up, or why that is unknown, and what was done. */
export function concluded(run: OrderRun, s: Assessment, done: Omit<CompensationResult, 'policy'>): OrderResult {
  const { case: c, left, policy } = s;
  const doubts = untold(s);
  const about = doubts.length === 0 ? { remainder: remainders(c, left) } : { remainderUnknown: doubts.join('; ') };
  return resultOf(run, { ...about, compensation: { policy, ...done } });
}

function checkFollowUp(run: OrderRun, { type, request }: FollowUp) {
  const summary = 'Do limits, precision and balance allow the follow-up?';
  const order = { type: run.type, request: run.request };
  return ask(run, { summary, alarm: true }, (reads) =>
    reads.checkFollowUp({ account: run.account, type, request, order }),
  );
}

/** Equal in everything that money depends on. */
function sameReadings(first: OutcomeReading[], second: OutcomeReading[]): boolean {
  const differs = (reading: OutcomeReading, index: number) => {
    const before = first[index];
    return !before || basisDifferences(basisOf(before), reading).length > 0;
  };
  return first.length === second.length && !second.some(differs);
}
