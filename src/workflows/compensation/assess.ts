import { sameAmount } from '../../contract/money.js';
import { followUpOrderId } from '../../contract/names.js';
import type { OutcomeReading, Payers, ReadOutcomeInput } from '../../contract/order/activities.js';
import type { Basis } from '../../contract/order/basis.js';
import type { CompensationPolicy } from '../../contract/order/input-and-result.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { ask, lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { type OrderRun, takenAs } from '../order/state.js';
import { failedChecks } from './checks.js';
import { type Case, type Figures, figures } from './figures.js';
import type { FollowUp, Move } from './moves.js';
import { type Offer, offersOf } from './offers.js';
import { afterFollowUp, openPurse, type Purse } from './purse.js';
import type { FollowUpEnd } from './send-follow-up.js';
import { type Row, rowOf } from './table.js';

/** A follow-up that was sent, with how it ended. */
export interface Sent extends FollowUp {
  move: Move;
  /** Who pays its commissions, from the rates it was checked against. */
  payers?: Payers;
  end: FollowUpEnd;
}

/** What is known about a final order and its follow-ups when it is decided what to do. */
export interface Assessment {
  /** Of the order, then of its follow-ups that exist. */
  readings: OutcomeReading[];
  case: Case;
  left: Figures;
  row: Row;
  policy: CompensationPolicy;
  /** Why the order's figures may not be believed; empty = they may. */
  doubts: string[];
  /** Oldest first. */
  sent: Sent[];
  /** Why it cannot be told what follow-ups moved; empty = it can. */
  sentDoubts: string[];
  purse: Purse;
  /** What may be done now; empty where there is any doubt. */
  offers: Offer[];
  /** Follow-ups that a run which is lost has sent, and that this one has not taken up: what they moved is not known here. */
  lost: LostFollowUp[];
}

/** A follow-up that was seen at the service; `basis`: what it showed. */
export interface LostFollowUp {
  orderId: string;
  basis?: Basis;
}

/** Reads the order and its follow-ups anew and computes what is left now. `before`: what was known, for what is shown no more. */
export async function assess(run: OrderRun, sent: Sent[], before?: Assessment): Promise<Assessment> {
  const { order_id: of } = run.request;
  const known = sent.flatMap(({ request, end }) => (end.kind === 'none' ? [] : [request.order_id]));
  const followUps = isFollowUp(run) ? undefined : { of, known };
  const reading = await readOutcome(run, run.orderId, run.order?.order_uuid ?? '', followUps);
  const { type, request, payers } = run;
  const c: Case = { ...reading, type, request, payers: payers?.first, laterPayers: payers?.later };
  const { overruled = [] } = takenAs(run) ?? {};
  const left = figures(c);
  const row = rowOf(c, left);
  const doubts = [
    ...(row.leftUnknown ? ['no figure says what is left'] : []),
    ...contradictions(run.finalOrder, reading.order),
    ...reading.disagreements,
    ...(overruled.length > 0 ? [`the order was adopted although it differs in ${overruled.join(', ')}`] : []),
    ...(reading.unreadFollowUps ? [unreadBeside(of)] : []),
    ...(amountIsUnknown(run, reading.order) ? ['the run was recovered: the amount asked for is not known'] : []),
    ...failedChecks(c, left),
  ];
  const followed = await readSent(run, c, openPurse(c, left), sent);
  const certain = doubts.length === 0 && followed.sentDoubts.length === 0;
  const possible = certain ? offersOf(c, followed.purse, row, run.input.revertTo) : [];
  const lost = lostFollowUps(reading, known, before?.lost);
  const canTakeUp = possible.length > 0 && isNext(lost, followUpOrderId(of, sent.length + 1));
  const lostDoubts = canTakeUp ? [] : lostInWords(lost);
  return {
    ...followed,
    readings: [reading, ...followed.readings],
    case: c,
    left,
    row,
    policy: run.input.compensation ?? row.byDefault,
    doubts: [...doubts, ...lostDoubts],
    sent,
    offers: lostDoubts.length > 0 ? [] : possible,
    lost,
  };
}

/** Those that are shown now and those that were shown before: what was there once never counts as absent. */
function lostFollowUps(
  { followUps = [], followUpBases: bases = [] }: OutcomeReading,
  known: readonly string[],
  before: readonly LostFollowUp[] = [],
): LostFollowUp[] {
  const shown = followUps.map((orderId) => ({
    orderId,
    basis: bases.find(({ user_order_id }) => user_order_id === orderId),
  }));
  const gone = before.filter(({ orderId }) => !followUps.includes(orderId) && !known.includes(orderId));
  return [...shown, ...gone];
}

/** Follow-ups of a run that is lost, in words. */
export const lostInWords = (lost: readonly LostFollowUp[]): string[] =>
  lost.length === 0
    ? []
    : [`${lost.map(({ orderId }) => orderId).join(', ')} exists at the service, sent by a run that is lost`];

/** They are taken up in their order. Where the next one is not among them, it would pay once more what the others paid. */
const isNext = (lost: readonly LostFollowUp[], next: string): boolean => lost.some(({ orderId }) => orderId === next);

const unreadBeside = (of: string): string =>
  `the order list shows an item beside ${of} that cannot be read: it may be a follow-up that a run which is lost has sent. ` +
  `Look for ${followUpOrderId(of, 1)} and the next ones at the service: what they paid is not to be paid again`;

/** Which of a payout's expected amounts was the one asked for is not documented, and a recovered run has no request. */
const amountIsUnknown = ({ type, input }: OrderRun, order: Order): boolean =>
  input.recovered !== undefined &&
  factsOf(type).paysOut &&
  !factsOf(type).exchanges &&
  !sameAmount(order.expected_amount_from, order.expected_amount_to);

/** What the follow-ups moved, by their own balance changes; one that cannot be told stays out of the purse as a doubt. */
async function readSent(run: OrderRun, c: Case, opened: Purse, sent: Sent[]) {
  const readings: OutcomeReading[] = [];
  const sentDoubts: string[] = [];
  let purse = opened;
  for (const { move, type, request, payers, end } of sent) {
    const id = request.order_id;
    if (end.kind === 'unknown') sentDoubts.push(`what ${id} moved cannot be told`);
    if (end.kind !== 'final') continue;
    const reading = await readOutcome(run, id, end.order.order_uuid);
    readings.push(reading);
    const followUp: Case = { ...reading, type, request, payers };
    const left = figures(followUp);
    const found = followUpDoubts(followUp, left, end.order, reading);
    sentDoubts.push(...found.map((doubt) => `${id}: ${doubt}`));
    if (found.length === 0)
      purse = afterFollowUp(c, purse, { move, amount: request.amount ?? '0', case: followUp, left });
  }
  return { readings, sentDoubts, purse };
}

function followUpDoubts(followUp: Case, left: Figures, final: Order, reading: OutcomeReading): string[] {
  const row = rowOf(followUp, left);
  // Where nobody could finish an order of that kind, its figures prove nothing.
  const untold = !row.nothingLeft && row.finish === 'ask' ? [row.name] : [];
  return [
    ...untold,
    ...contradictions(final, reading.order),
    ...reading.disagreements,
    ...failedChecks(followUp, left),
  ];
}

/** The first final status wins: what the service says differently later is for a person and moves no money. */
function contradictions(final: Order | undefined, now: Order): string[] {
  if (!final || final.status === now.status) return [];
  return [`the final status was ${final.status} and now reads ${now.status}`];
}

async function readOutcome(
  run: OrderRun,
  orderId: string,
  orderUuid: string,
  followUps?: ReadOutcomeInput['followUps'],
): Promise<OutcomeReading> {
  // Ever more slowly: where one of two workers has the right account, each change costs history.
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, ATTENTION_AFTER_MS)) {
    const input = { account: run.account, orderId, orderUuid, sentTo: run.sentTo, ...(followUps && { followUps }) };
    const summary = 'Read status and balance changes';
    const reading = await ask(run, { summary, alarm: true }, (reads) => reads.readOutcome(input));
    if (!('elsewhere' in reading)) return reading;
    // Ends once the account is the order's, set back or by a person's word.
    await lookUp(run, { summary: 'Which account answers?', delayMs: waitMs, alarm: true });
  }
}

const FIRST_WAIT_MS = 1_000;
