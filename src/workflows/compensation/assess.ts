import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { sameAmount } from '../../contract/money.js';
import { followUpOrderId } from '../../contract/names.js';
import type { OutcomeReading, Payers, ReadOutcomeInput } from '../../contract/order/activities.js';
import { FINAL_AMOUNTS } from '../../contract/order/after-end.js';
import type { Basis } from '../../contract/order/basis.js';
import type { CompensationPolicy } from '../../contract/order/input-and-result.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { answersWithin, readOverWindow } from '../activity-calls.js';
import { ask, lookUp } from '../ask/ask.js';
import { isFollowUp } from '../identity.js';
import { answeredIn, foundAs, type OrderRun, orderIdOf } from '../order/state.js';
import { failedChecks } from './checks.js';
import { type Case, type Figures, figures } from './figures.js';
import { afterFollowUp, type FollowUp, type Funds, type Move, openFunds } from './moves.js';
import { type Offer, offersOf } from './offers.js';
import type { FollowUpEnd } from './send-follow-up.js';
import { type Row, rowOf } from './table.js';

export interface Sent extends FollowUp {
  move: Move;
  /** Who pays its commissions, from the rates of its check. */
  payers?: Payers;
  end: FollowUpEnd;
}

/** Everything known about a final order and its follow-ups. */
export interface Assessment {
  readings: OutcomeReading[];
  case: Case;
  left: Figures;
  row: Row;
  /** Nothing is left, and no reading contradicts it. */
  nothingLeft: boolean;
  policy: CompensationPolicy;
  /** Why the order's figures are unreliable. */
  doubts: string[];
  sent: Sent[];
  /** Why it is unknown what follow-ups moved. */
  sentDoubts: string[];
  funds: Funds;
  /** Possible moves; none while there is a doubt. */
  offers: Offer[];
  /** Follow-ups of a lost run that this run has not adopted, as the service showed them. */
  lost: Basis[];
}

/** Reads the order and its follow-ups and computes what is left. `limited`: the caller ends it. */
export async function assess(run: OrderRun, sent: Sent[], before?: Assessment, limited = false): Promise<Assessment> {
  const { order_id: of } = run.request;
  const ended = sent.flatMap(({ request, end }) => (end.kind === 'none' ? [request.order_id] : []));
  const followUps = isFollowUp(run) ? undefined : { of, known: knownOf(sent), ...(ended.length > 0 && { ended }) };
  const reading = await readOutcome(run, orderIdOf(run), run.order?.order_uuid ?? '', limited, followUps);
  const followed: Followed[] = [];
  for (const one of sent) {
    const { end, request } = one;
    if (end.kind !== 'final') continue;
    followed.push({ one, reading: await readOutcome(run, request.order_id, end.order.order_uuid, limited) });
  }
  return assessed(run, reading, followed, sent, before);
}

/** A follow-up that ended with an order, and what the service shows of it. */
interface Followed {
  one: Sent;
  reading: OutcomeReading;
}

const knownOf = (sent: readonly Sent[]): string[] =>
  sent.flatMap(({ request, end }) => (end.kind === 'none' ? [] : [request.order_id]));

/** Computes what is left by readings of the order and its follow-ups. */
export function assessed(
  run: Pick<OrderRun, 'type' | 'request' | 'input' | 'payers' | 'finalOrder' | 'facts'>,
  reading: OutcomeReading,
  followed: readonly Followed[],
  sent: Sent[],
  before?: Assessment,
): Assessment {
  const { type, request, payers } = run;
  const { order_id: of } = request;
  const c: Case = { ...reading, type, request, payers: payers?.first, laterPayers: payers?.later };
  const { acceptedDifferences = [] } = foundAs(run) ?? {};
  const left = figures(c);
  const row = rowOf(c, left);
  const shownDoubts = readingDoubts(run.finalOrder, reading, of);
  const doubts = [
    ...(row.leftUnknown ? ['no figure says what is left'] : []),
    ...shownDoubts,
    ...(acceptedDifferences.length > 0
      ? [`the order was adopted although it differs in ${acceptedDifferences.join(', ')}`]
      : []),
    ...(amountIsUnknown(run, reading.order) ? ['the run was recovered: the amount asked for is not known'] : []),
    ...failedChecks(c, left),
  ];
  const { funds, sentDoubts } = fundsLeft(c, openFunds(c, left), followed, sent);
  const certain = doubts.length === 0 && sentDoubts.length === 0;
  const possible = certain ? offersOf(c, funds, row, run.input.revertTo) : [];
  const lost = lostFollowUps(reading, knownOf(sent), before?.lost);
  // Lost follow-ups are adopted in their order: without the next one, money would be paid twice.
  const next = followUpOrderId(of, sent.length + 1);
  const canTakeUp = possible.length > 0 && lost.some(({ user_order_id }) => user_order_id === next);
  const lostDoubts = canTakeUp ? [] : lostInWords(lost);
  return {
    nothingLeft: row.nothingLeft === true && shownDoubts.length === 0,
    readings: [reading, ...followed.map((one) => one.reading)],
    case: c,
    left,
    row,
    policy: run.input.compensation ?? row.byDefault,
    doubts: [...doubts, ...lostDoubts],
    sent,
    sentDoubts,
    funds,
    offers: lostDoubts.length > 0 ? [] : possible,
    lost,
  };
}

/** Longest wait for a reading that somebody waits for. */
const READ_WITHIN_MS = 60_000;

/** Reads everything again, with a time limit. Returns undefined if the service is silent. */
export async function readAgain(run: OrderRun, before: Assessment): Promise<Assessment | undefined> {
  const { callback } = run;
  const scope = new CancellationScope();
  const reading = scope.run(() => assess(run, before.sent, before, true));
  const isRead = await answersWithin(reading, READ_WITHIN_MS, 'Until the order is read again');
  // A callback during the reading needs another one.
  if (isRead && run.callback === callback) callback.isDue = false;
  if (!isRead) scope.cancel();
  return isRead ? reading : undefined;
}

/** Reads until absent follow-ups of a lost run are proven absent: that takes the settle window. */
export function readForAccept(run: OrderRun, before: Assessment): Promise<Assessment | undefined> {
  const isUnproven = (read?: Assessment) =>
    read?.lost.length === 0 &&
    (read.readings[0]?.isTooSoon === true || answeredIn(run) !== workflowInfo().firstExecutionRunId);
  return readOverWindow(
    () => readAgain(run, before),
    isUnproven,
    () => run.strictest.pace?.settleWindowMs.atOnce ?? 0,
  );
}

/** Follow-ups shown now or before: one that was shown never counts as absent. */
function lostFollowUps(
  { followUpBases: shown = [] }: OutcomeReading,
  known: readonly string[],
  before: readonly Basis[] = [],
): Basis[] {
  const found = [...known, ...shown.map(({ user_order_id }) => user_order_id)];
  return [...shown, ...before.filter(({ user_order_id }) => !found.includes(user_order_id))];
}

/** Returns the words for follow-ups of a lost run. */
export const lostInWords = (lost: readonly Basis[]): string[] =>
  lost.length === 0
    ? []
    : [
        `${lost.map(({ user_order_id }) => user_order_id).join(', ')} exists at the service, sent by a run that is lost`,
      ];

const unreadBeside = (of: string): string =>
  `the order list shows an item beside ${of} that cannot be read. It may be a lost follow-up, whose payment must not be ` +
  `repeated: look for ${followUpOrderId(of, 1)} and the next ones at the service`;

/** A recovered payout has no request, and either expected amount may be the requested one. */
const amountIsUnknown = ({ type, input }: Pick<OrderRun, 'type' | 'input'>, order: Order): boolean =>
  input.recovered !== undefined &&
  factsOf(type).paysOut &&
  !factsOf(type).exchanges &&
  !sameAmount(order.expected_amount_from, order.expected_amount_to);

/** Computes what follow-ups moved. One with doubts stays out of the remaining funds. */
function fundsLeft(c: Case, opened: Funds, followed: readonly Followed[], sent: readonly Sent[]) {
  const sentDoubts = sent.flatMap(({ request, end }) =>
    end.kind === 'unknown' ? [`it is unknown what ${request.order_id} moved`] : [],
  );
  let funds = opened;
  for (const { one, reading } of followed) {
    const { move, type, request, payers, end } = one;
    const followUp: Case = { ...reading, type, request, payers };
    const left = figures(followUp);
    const final = end.kind === 'final' ? end.order : undefined;
    const found = followUpDoubts(followUp, left, readingDoubts(final, reading, c.request.order_id));
    sentDoubts.push(...found.map((doubt) => `${request.order_id}: ${doubt}`));
    if (found.length === 0)
      funds = afterFollowUp(c, funds, { move, amount: request.amount ?? '0', case: followUp, left });
  }
  return { sentDoubts, funds };
}

function followUpDoubts(followUp: Case, left: Figures, shownDoubts: string[]): string[] {
  const row = rowOf(followUp, left);
  // If nobody could finish such an order, its figures prove nothing.
  const unprovable = !row.nothingLeft && row.finish === 'ask' ? [row.name] : [];
  return [...unprovable, ...shownDoubts, ...failedChecks(followUp, left)];
}

/**
 * Returns why a reading is in doubt. The first final status and amounts hold: a later contradiction
 * moves no money.
 */
function readingDoubts(final: Order | undefined, reading: OutcomeReading, of: string): string[] {
  const { order: now, disagreements, unreadFollowUps } = reading;
  const was = final ?? now;
  const changed = (['status', ...FINAL_AMOUNTS] as const).filter((field) => !sameAmount(was[field], now[field]));
  return [
    ...changed.map((field) => `the final ${field} was ${was[field] ?? 'none'} and now reads ${now[field] ?? 'none'}`),
    ...disagreements,
    ...(unreadFollowUps ? [unreadBeside(of)] : []),
  ];
}

async function readOutcome(
  run: OrderRun,
  orderId: string,
  orderUuid: string,
  limited: boolean,
  followUps?: ReadOutcomeInput['followUps'],
): Promise<OutcomeReading> {
  // Waits longer each time: each change of account costs history.
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, ATTENTION_AFTER_MS)) {
    const input = { account: run.account, orderId, orderUuid, sentTo: run.sentTo, ...(followUps && { followUps }) };
    const summary = 'Read status and balance changes';
    const reading = await ask(run, { summary, alarm: true }, (reads) => reads.readOutcome(input));
    if (!('elsewhere' in reading)) {
      run.answeredIn = reading.runId ?? run.answeredIn;
      return reading;
    }
    // Nobody is asked about the account meanwhile.
    if (limited) await condition(() => false);
    // Waits for the right account, or for an operator's confirmation.
    await lookUp(run, { summary: 'Which account answers?', delayMs: waitMs, alarm: true });
  }
}

const FIRST_WAIT_MS = 1_000;
