import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { ACCOUNT_FORMAT } from '../../contract/ids.js';
import { searchAttribute } from '../../contract/names.js';
import type { Attention, DecideAction, OrderPhase, OrderState } from '../../contract/order/messages.js';
import { orderSides } from '../../contract/order/types.js';
import { currentDetails } from './details.js';
import type { OrderRun } from './run.js';

/** Phases that operators search for have a status of their own; the others are simply open. */
const SEARCHED_STATUS: Record<OrderPhase, string> = {
  creating: 'open',
  uncertain: 'uncertain',
  following: 'open',
  compensating: 'open',
  parked: 'parked',
  done: 'open',
};

/** Moves on to a phase and says what is waited for. */
export function enterPhase(run: OrderRun, phase: OrderPhase, waitingFor: string): void {
  if (run.phase !== phase) run.revision += 1;
  run.phase = phase;
  run.waitingFor = waitingFor;
  publish(run, SEARCHED_STATUS[phase]);
}

/** Asks for a person. `allowed` is what may be decided now; empty = look, the order goes on by itself. */
export function raiseAttention(run: OrderRun, reason: string, allowed: DecideAction[] = []): void {
  if (run.attention?.reason === reason) return;
  // A person was asked to decide or to set an account back: what goes on in the background must not take that away.
  const asked = (run.attention?.allowed.length ?? 0) > 0 || (run.elsewhere && run.attention === run.elsewhere);
  if (allowed.length === 0 && asked) return;
  run.revision += 1;
  run.attention = { reason, since: new Date().toISOString(), allowed };
  publish(run, SEARCHED_STATUS[run.phase]);
}

/** The reason for attention is gone. */
export function clearAttention(run: OrderRun): void {
  if (!run.attention) return;
  run.revision += 1;
  run.attention = undefined;
  publish(run, SEARCHED_STATUS[run.phase]);
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
  return {
    phase: run.phase,
    revision: run.revision,
    status: run.order?.status ?? null,
    order: run.order ?? null,
    waitingFor: run.waitingFor,
    ...(run.attention && { attention: run.attention }),
    lastLookupAt: run.lastLookupAtMs === undefined ? null : new Date(run.lastLookupAtMs).toISOString(),
  };
}

/**
 * Shows the run to operators. Writes search attributes only where they differ from what Temporal has, so that the
 * normal path, started with its attributes, costs one upsert at its end.
 */
function publish(run: OrderRun, status: string): void {
  setCurrentDetails(currentDetails(run));
  const known = workflowInfo().typedSearchAttributes;
  const started = known.get(searchAttribute.account) !== undefined;
  const needsAttention = run.attention !== undefined;
  const unchanged =
    started &&
    known.get(searchAttribute.orderStatus) === status &&
    (known.get(searchAttribute.needsAttention) ?? false) === needsAttention;
  if (unchanged) return;
  upsertSearchAttributes([
    { key: searchAttribute.orderStatus, value: status },
    { key: searchAttribute.needsAttention, value: needsAttention },
    ...(run.order ? [{ key: searchAttribute.orderUuid, value: run.order.order_uuid }] : []),
    ...(started ? [] : attributesOfInput(run)),
  ]);
}

/**
 * What a start from the UI or the plain CLI did not bring along. Its input may be anything: values that Temporal would
 * refuse are left out, because a refused upsert fails the workflow task for ever, and so is what may be a wallet.
 */
function attributesOfInput({ type, account, input, request }: OrderRun) {
  const known = typeof request === 'object' && request !== null;
  const { currencyFrom, currencyTo } = known ? orderSides(type, request) : {};
  return [
    // Whatever its name looks like: without it every upsert would be taken for the first.
    { key: searchAttribute.account, value: account, format: ACCOUNT_FORMAT },
    { key: searchAttribute.currencyFrom, value: currencyFrom },
    { key: searchAttribute.currencyTo, value: currencyTo },
    { key: searchAttribute.batchId, value: input?.batchId },
  ].flatMap(({ key, value, format }) => (isKeyword(value, format) ? [{ key, value }] : []));
}

/** Nothing that could be a card number. Rather one search attribute too few, so the check digit is not looked at. */
const KEYWORD_FORMAT = /^(?!.*(?:\d-?){12})[A-Za-z0-9._-]{1,120}$/;

/** True for texts that Temporal surely takes as a search attribute, and that everybody may see. */
export const isKeyword = (value: unknown, format = KEYWORD_FORMAT): value is string =>
  typeof value === 'string' && format.test(value);
