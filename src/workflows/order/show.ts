import { condition, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { OrderAttention } from '../../contract/attention.js';
import { ACCOUNT_FORMAT, REFERENCE_FORMAT, searchAttribute } from '../../contract/names.js';
import type {
  ApprovedAmount,
  Attention,
  DecideAction,
  OrderPhase,
  OrderState,
  TakenDecision,
} from '../../contract/order/messages.js';
import { orderSides, whatMoves } from '../../contract/order/types.js';
import { maskWallets } from '../../contract/wallets.js';
import type { Offer } from '../compensation/offers.js';
import type { Candidate } from '../create/facts.js';
import { isKeyword } from '../keywords.js';
import { attentionAttributes, show } from '../show.js';
import { attentionNow, decisionsOf, recordOf } from './decision.js';
import { emitAttention } from './events.js';
import { currentDetails, waitingNow } from './page.js';
import { marksOf } from './payment.js';
import type { OrderRun } from './state.js';

/** Operators search for these phases; all others are open. */
const searchedStatus = ({ phase, funds }: OrderRun): string => {
  if (phase === 'creating' && funds.short) return 'short';
  return phase === 'uncertain' || phase === 'parked' ? phase : 'open';
};

export function enterPhase(run: OrderRun, phase: OrderPhase, waitingFor: string): void {
  if (run.phase !== phase) run.revision += 1;
  run.phase = phase;
  run.waitingFor = waitingFor;
  publish(run);
}

/** Raises attention. `allowed`: possible decisions; without any, the order continues by itself. */
export function raiseAttention(
  run: OrderRun,
  code: OrderAttention,
  reason: string,
  allowed: DecideAction[] = [],
  { amount, currency }: Partial<ApprovedAmount> = {},
): void {
  if (run.attention?.reason === reason) return;
  // Background work must not replace an open question.
  if (allowed.length === 0 && run.attention?.allowed.length) return;
  run.revision += 1;
  run.attention = {
    ...{ code, reason, since: new Date().toISOString(), allowed },
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
  publish(run);
}

export function clearAttention(run: OrderRun, reason: string | undefined): void {
  if (!run.attention || run.attention.reason !== reason) return;
  run.revision += 1;
  run.attention = undefined;
  publish(run);
}

const AND_ITS_TURN = ', and for ';

/** Shows that the order also waits for its turn, without an event or attention. */
export function showTurn(run: OrderRun, turn?: string): void {
  const [other = ''] = run.waitingFor.split(AND_ITS_TURN);
  const waitingFor = turn === undefined ? other : other + AND_ITS_TURN + turn;
  if (waitingFor === run.waitingFor) return;
  run.waitingFor = waitingFor;
  publish(run);
}

export const WAS_CANCELLED = 'it was cancelled';

const MOVES_MONEY: readonly DecideAction[] = ['resend', 'approve', 'release', 'finish', 'revert'];

/**
 * Shows a later cancellation, and adds it to a question that may move money, whose revision becomes
 * stale. Adds no command.
 */
export function showCancelled(run: OrderRun): void {
  const { attention } = run;
  // A question about the account is not the parked one, which is asked again afterwards.
  const isParked = run.phase === 'parked' && attention?.code !== 'other-account';
  if (isParked && attention?.allowed.some((action) => MOVES_MONEY.includes(action))) {
    run.revision += 1;
    run.attention = { ...attention, reason: `${attention.reason}; ${WAS_CANCELLED}` };
  }
  setCurrentDetails(currentDetails(run));
}

/** Ends the run in the UI and for searches: with the final status, or 'none' without an order. */
export function enterDone(run: OrderRun, status: string, keepAttention?: Attention): void {
  run.revision += 1;
  run.phase = 'done';
  run.waitingFor = 'nothing';
  run.attention = keepAttention;
  publish(run, status);
}

export function orderState(run: OrderRun): OrderState {
  const { runId } = workflowInfo();
  const { atMs: lastLookUpAtMs } = run.lastLookUp;
  return {
    phase: run.phase,
    revision: run.revision,
    runId,
    status: run.order?.status ?? null,
    order: run.order ?? null,
    waitingFor: waitingNow(run),
    attention: attentionNow(run),
    ...(run.facts.cancelled && { cancelRequested: true }),
    decisions: decisionsOf(run, runId),
    ...(run.decisions.length > 0 && { decided: run.decisions }),
    ...(run.strictest.onlyByCommand && { onlyByCommand: run.strictest.onlyByCommand }),
    lastLookupAt: lastLookUpAtMs === undefined ? null : new Date(lastLookUpAtMs).toISOString(),
    ...marksOf(run),
  };
}

/** Shows the run to operators. The normal path costs one upsert, at its end. */
function publish(run: OrderRun, status = searchedStatus(run)): void {
  const known = workflowInfo().typedSearchAttributes;
  const isStarted = known.get(searchAttribute.account) !== undefined;
  const { attention } = run;
  const isShown =
    isStarted &&
    known.get(searchAttribute.orderStatus) === status &&
    (known.get(searchAttribute.needsAttention) ?? false) === (attention !== undefined) &&
    known.get(searchAttribute.attentionReason) === attention?.code;
  const ofInput = isStarted ? [] : attributesOfInput(run);
  const attributes = [
    { key: searchAttribute.orderStatus, value: status },
    ...attentionAttributes(attention?.code, amountOf(run)),
    ...(run.order ? [{ key: searchAttribute.orderUuid, value: run.order.order_uuid }] : []),
    ...ofInput,
  ];
  show(currentDetails(run), isShown ? [] : attributes);
  emitAttention(run);
}

const amountOf = ({ type, request }: OrderRun): string | undefined =>
  typeof request === 'object' && request !== null ? whatMoves(type, request) : undefined;

/**
 * Search attributes that a start from the UI did not set. Values that Temporal would refuse are
 * left out, because a refused upsert blocks the workflow, and so are possible wallets.
 */
function attributesOfInput(run: OrderRun) {
  const { type, account, input, request } = run;
  const known = typeof request === 'object' && request !== null;
  const { currencyFrom, currencyTo } = known ? orderSides(type, request) : {};
  return [
    // Always written: without it every upsert counts as the first. An account with a card number
    // ends the run.
    {
      key: searchAttribute.account,
      value: typeof account === 'string' ? maskWallets(account) : account,
      format: ACCOUNT_FORMAT,
    },
    { key: searchAttribute.currencyFrom, value: currencyFrom },
    { key: searchAttribute.currencyTo, value: currencyTo },
    { key: searchAttribute.batchId, value: input?.batchId },
    { key: searchAttribute.reference, value: marksOf(run).reference, format: REFERENCE_FORMAT },
  ].flatMap(({ key, value, format }) => (isKeyword(value, format) ? [{ key, value }] : []));
}

/**
 * Question of a parked order, with the possible meanings of `finish`, `revert`, `adopt` and
 * `approve`.
 */
export interface ParkQuestion {
  code: OrderAttention;
  reason: string;
  allowed: DecideAction[];
  offers?: readonly Offer[];
  candidates?: readonly Candidate[];
  toApprove?: ApprovedAmount;
}

/** Keeps the workflow open until an operator decides, without a time-out. Records the decision. */
export async function park(run: OrderRun, asked: ParkQuestion): Promise<TakenDecision> {
  return (await parkUnless(run, asked, () => false)) as TakenDecision;
}

/** Like `park`, but also ends once `resolved` returns true. */
export async function parkUnless(
  run: OrderRun,
  { code, reason, allowed, offers = [], candidates = [], toApprove }: ParkQuestion,
  resolved: () => boolean,
): Promise<TakenDecision | undefined> {
  run.phase = 'parked';
  run.waitingFor = 'a decision';
  run.parked = { offers, candidates };
  run.attention = undefined;
  raiseAttention(run, code, reason, allowed, toApprove);
  // Background work may ask about the account meanwhile, and takes the decision on that.
  const taken = () => (run.attention?.code === code ? run.parked.decision : undefined);
  await condition(() => taken() !== undefined || resolved());
  const decision = taken();
  run.parked = { offers: [], candidates: [] };
  run.attention = undefined;
  if (!decision) return undefined;
  run.decisions.push(recordOf(offers, decision));
  return decision;
}
