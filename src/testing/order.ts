import type { ApplicationFailure } from '@temporalio/common';
import { sentWords } from '../contract/attention.js';
import { echoDifferences } from '../contract/differences/echo.js';
import { decimal, toAmount } from '../contract/money.js';
import { searchAttribute } from '../contract/names.js';
import type { OrderResult, RunInput } from '../contract/order/input-and-result.js';
import type { Attention, OrderState, TakenDecision } from '../contract/order/messages.js';
import { whatMoves } from '../contract/order/types.js';
import type { Order, Rates } from '../contract/service-objects.js';
import { type Conflict, type Seen, seenIn } from '../workflows/create/facts.js';
import { attentionNow, decisionsOf } from '../workflows/order/decision.js';
import { marksOf } from '../workflows/order/payment.js';
import type { ParkQuestion } from '../workflows/order/show.js';
import type { OrderRun } from '../workflows/order/state.js';
import { toKnow } from '../workflows/order/to-know.js';
import { lateness } from './before-send.js';
import { isDoubt, QUESTIONS, type TestEnding } from './endings.js';
import type { Run } from './run.js';
import { createdOrder } from './service-order.js';

/** An order, with what its workflow would keep. */
export interface TestOrder extends Pick<OrderRun, 'type' | 'phase' | 'waitingFor' | 'revision' | 'decisions'> {
  run: Run;
  input: RunInput;
  facts: OrderRun['facts'];
  parked: OrderRun['parked'];
  attention?: Attention | undefined;
  result?: OrderResult;
  created?: Order;
  order?: Order;
  finalOrder?: Order;
  /** Order that the service shows while a person has to decide. */
  shown?: Order | undefined;
  failure?: ApplicationFailure;
  adopted: boolean;
  lookedAt: string | null;
  /** Effect of a decision that does not close the order. */
  next: (decision: TakenDecision) => void;
  /** Status and attention that lists show. */
  listed: string;
}

/** Returns an order as the product's rules take it. */
export const markedOf = (order: TestOrder) => ({
  ...order,
  request: order.input.order,
  answeredIn: order.run.served ? order.run.runId : undefined,
});

/** Returns the state of an order as answers of updates show it. */
export function stateOf(order: TestOrder): OrderState {
  const { phase, revision, order: shown = null, waitingFor, facts, lookedAt, decisions } = order;
  const attention = attentionNow(order);
  const { runId } = order.run;
  return {
    ...{ phase, revision, runId, status: shown?.status ?? null, order: shown, waitingFor, attention },
    ...marksOf(markedOf(order)),
    ...(facts.cancelled && { cancelRequested: true }),
    ...{ decisions: decisionsOf(order, runId), lastLookupAt: lookedAt },
    ...(decisions.length > 0 && { decided: decisions }),
  };
}

/** Returns the state with what a person has to know, as the query shows it. */
export function queriedState(order: TestOrder, account: string): OrderState {
  const state = stateOf(order);
  const { attention, decisions: choices } = state;
  const isInDoubt = isDoubt(attention?.code);
  const sent = sentWords(order.order, isInDoubt, attention?.code);
  const { order_id: orderId } = order.input.order;
  return { ...state, ...toKnow({ ...markedOf(order), account }, { orderId, sent, choices, isInDoubt }) };
}

/** Returns what lists show of an order with this status. */
export const attributesOf = ({ type, input, order, attention }: TestOrder, status: string) => [
  { key: searchAttribute.orderStatus, value: status },
  { key: searchAttribute.needsAttention, value: attention !== undefined },
  { key: searchAttribute.attentionReason, value: attention?.code ?? null },
  { key: searchAttribute.attentionSince, value: attention ? new Date(attention.since) : null },
  { key: searchAttribute.amount, value: attention ? whatMoves(type, input.order) : null },
  { key: searchAttribute.orderUuid, value: order?.order_uuid ?? null },
];

/** An ending that waits for a decision. */
export type TestQuestion = Extract<TestEnding, { parked: unknown }>;

/** Amounts by which the order of a conflict differs. */
function anotherOf({ expected_amount_from: from, expected_amount_to: to }: Order): Partial<Order> {
  const [expected_amount_from, expected_amount_to] = [from, to].map((amount) => toAmount(decimal(amount).plus('1')));
  return { expected_amount_from, expected_amount_to } as Partial<Order>;
}

export const NOT_PARKED = { offers: [], candidates: [] };

export const timeNow = (): string => new Date().toISOString();

export const conflictOver = (order: Order): TestQuestion => ({
  ...{ parked: 'conflict', reason: 'the service has another order with this id', order },
});

/** Returns how a worker sees an order of the service. */
export function seenAs({ type, input: { order: request } }: TestOrder, order: Order): Seen {
  const { hard: differences, soft } = echoDifferences(type, request, order);
  return seenIn({ type, request }, { kind: 'found', order, differences, soft });
}

/** Returns the question about an unsent order. Sets the order that the service shows. */
export function questionOf(
  order: TestOrder,
  { parked: code, reason = 'the test says so', order: fields }: TestQuestion,
  rates: Rates,
): { asked: ParkQuestion; conflict: Conflict | undefined } {
  const { type, input } = order;
  const created = createdOrder(type, input.order, rates);
  const isConflict = code === 'conflict';
  if (isConflict || fields) order.shown = { ...created, ...(isConflict && anotherOf(created)), ...fields };
  const seen = isConflict && order.shown ? seenAs(order, order.shown) : undefined;
  const conflict = seen?.kind === 'conflict' ? seen : undefined;
  const mayResend = !isDoubt(code) || !lateness(input);
  const { expected_amount_from: amount, currency_from: currency } = created;
  const asked: ParkQuestion = {
    ...{ code, reason, allowed: QUESTIONS[code].filter((action) => action !== 'resend' || mayResend) },
    ...(conflict && { candidates: conflict.candidates }),
    ...(code === 'over-cap' && { toApprove: { amount, currency } }),
  };
  return { asked, conflict };
}
