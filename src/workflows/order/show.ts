import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { ACCOUNT_FORMAT, searchAttribute } from '../../contract/names.js';
import type { ApprovedAmount, Attention, DecideAction, OrderPhase, OrderState } from '../../contract/order/messages.js';
import { orderSides, whatMoves } from '../../contract/order/types.js';
import { maskWallets } from '../../contract/wallets.js';
import type { OrderAttention } from '../../contract/words.js';
import { attentionAttributes, isKeyword, show } from '../show.js';
import { decisionsOf } from './choices.js';
import { currentDetails } from './details.js';
import type { OrderRun } from './state.js';

/** Phases that operators search for are a status of their own; the others are simply open. */
const searchedStatus = (phase: OrderPhase): string => (phase === 'uncertain' || phase === 'parked' ? phase : 'open');

/** Moves on to a phase and says what is waited for. */
export function enterPhase(run: OrderRun, phase: OrderPhase, waitingFor: string): void {
  if (run.phase !== phase) run.revision += 1;
  run.phase = phase;
  run.waitingFor = waitingFor;
  publish(run);
}

/**
 * Asks for a person. `allowed` is what may be decided now; empty = look, the order goes on by itself. `toApprove`: what an
 * approval covers.
 */
export function raiseAttention(
  run: OrderRun,
  code: OrderAttention,
  reason: string,
  allowed: DecideAction[] = [],
  toApprove?: ApprovedAmount,
): void {
  if (run.attention?.reason === reason) return;
  // What goes on in the background must not replace an open question.
  if (allowed.length === 0 && run.attention?.allowed.length) return;
  run.revision += 1;
  run.attention = { code, reason, since: new Date().toISOString(), allowed, ...toApprove };
  publish(run);
}

/** That reason for attention is gone; another one stays. */
export function clearAttention(run: OrderRun, reason: string | undefined): void {
  if (!run.attention || run.attention.reason !== reason) return;
  run.revision += 1;
  run.attention = undefined;
  publish(run);
}

/** Stands between what an order waits for and its turn, which it waits for besides. */
const AND_ITS_TURN = ', and for ';

/**
 * Shows that the order waits for its turn besides; without words that it does no more. Costs no
 * event and no attention.
 */
export function showTurn(run: OrderRun, turn?: string): void {
  const [other = ''] = run.waitingFor.split(AND_ITS_TURN);
  const waitingFor = turn === undefined ? other : other + AND_ITS_TURN + turn;
  if (waitingFor === run.waitingFor) return;
  run.waitingFor = waitingFor;
  publish(run);
}

/** How a question says that the order was cancelled before it was asked, or since. */
export const WAS_CANCELLED = 'it was cancelled';

/** Decisions by which money may move. */
const MOVES_MONEY: readonly DecideAction[] = ['resend', 'approve', 'finish', 'revert'];

/**
 * Tells who may decide that money moves that the order was cancelled since: the revision that they saw counts no more. Makes no
 * command, since the question stays open.
 */
export function tellCancelled(run: OrderRun): void {
  const { attention } = run;
  if (run.phase !== 'parked' || !attention?.allowed.some((action) => MOVES_MONEY.includes(action))) return;
  run.revision += 1;
  run.attention = { ...attention, reason: `${attention.reason}; ${WAS_CANCELLED}` };
  setCurrentDetails(currentDetails(run));
}

/** Ends the run in the UI and for searches: with the final status, or 'none' when no order came to exist. */
export function enterDone(run: OrderRun, status: string, keepAttention?: Attention): void {
  run.revision += 1;
  run.phase = 'done';
  run.waitingFor = 'nothing';
  run.attention = keepAttention;
  publish(run, status);
}

/** The answer of the `orderState` query. */
export function orderState(run: OrderRun): OrderState {
  const { atMs: lastLookUpAtMs } = run.lastLookUp;
  return {
    phase: run.phase,
    revision: run.revision,
    runId: run.runId,
    status: run.order?.status ?? null,
    order: run.order ?? null,
    waitingFor: run.waitingFor,
    attention: run.attention,
    ...(run.facts.cancelled && { cancelRequested: true }),
    decisions: decisionsOf(run),
    ...(run.strictest.onlyByCommand && { onlyByCommand: run.strictest.onlyByCommand }),
    lastLookupAt: lastLookUpAtMs === undefined ? null : new Date(lastLookUpAtMs).toISOString(),
  };
}

/**
 * Shows the run to operators. A start by a client or a batch brings its search attributes along, and a first `false` for
 * attention is worth no event: the normal path costs one upsert, at its end.
 */
function publish(run: OrderRun, status = searchedStatus(run.phase)): void {
  const known = workflowInfo().typedSearchAttributes;
  const isStarted = known.get(searchAttribute.account) !== undefined;
  const { attention } = run;
  const isShown =
    isStarted &&
    known.get(searchAttribute.orderStatus) === status &&
    (known.get(searchAttribute.needsAttention) ?? false) === (attention !== undefined) &&
    known.get(searchAttribute.attentionReason) === attention?.code;
  const attributes = [
    { key: searchAttribute.orderStatus, value: status },
    ...attentionAttributes(attention?.code, amountOf(run)),
    ...(run.order ? [{ key: searchAttribute.orderUuid, value: run.order.order_uuid }] : []),
    ...(isStarted ? [] : attributesOfInput(run)),
  ];
  show(currentDetails(run), isShown ? [] : attributes);
}

/** What was asked for; the input may be anything. */
const amountOf = ({ type, request }: OrderRun): string | undefined =>
  typeof request === 'object' && request !== null ? whatMoves(type, request) : undefined;

/**
 * What a start from the UI or the plain CLI did not bring along. Its input may be anything: values that Temporal would
 * refuse are left out, because a refused upsert fails the workflow task for ever, and so is what may be a wallet.
 */
function attributesOfInput({ type, account, input, request }: OrderRun) {
  const known = typeof request === 'object' && request !== null;
  const { currencyFrom, currencyTo } = known ? orderSides(type, request) : {};
  return [
    // The account is written whatever its name looks like: without it every upsert would be taken for the first. One that
    // holds a card number is refused, and ends the run.
    {
      key: searchAttribute.account,
      value: typeof account === 'string' ? maskWallets(account) : account,
      format: ACCOUNT_FORMAT,
    },
    { key: searchAttribute.currencyFrom, value: currencyFrom },
    { key: searchAttribute.currencyTo, value: currencyTo },
    { key: searchAttribute.batchId, value: input?.batchId },
  ].flatMap(({ key, value, format }) => (isKeyword(value, format) ? [{ key, value }] : []));
}
