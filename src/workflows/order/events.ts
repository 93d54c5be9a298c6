import {
  CancellationScope,
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { EVENT_TEXTS, type EventData, type EventKind, type EventsInput, wants } from '../../contract/events.js';
import {
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  EVENTS_SIGNAL,
  ORDER_ID_FORMAT,
  parseAfterEndWorkflowId,
  parseOrderWorkflowId,
  searchAttribute,
} from '../../contract/names.js';
import { orderSides } from '../../contract/order/types.js';
import { holdsWallet } from '../../contract/wallets.js';
import { watch } from '../activity-calls.js';
import { isKeyword } from '../show.js';
import type { OrderRun } from './state.js';

/** Records an event, in memory only without receivers. `later`: another one follows at once. */
export function emit(run: OrderRun, type: EventKind, facts: Facts = {}, later = false): void {
  const { outbox, runId, account } = run;
  outbox.sequence += 1;
  const { sequence } = outbox;
  const data = { account, sequence, ...textsOf({ ...knownOf(run), ...facts }) };
  outbox.waiting.push({ id: `${runId}.${sequence}`, type, timestamp: new Date().toISOString(), data });
  if (!later) void handOver(run);
}

/** Emits a change of attention, by its code alone: its reason is free text. */
export function emitAttention(run: OrderRun): void {
  const { outbox, attention } = run;
  const [before, code] = [outbox.attention, attention?.code];
  if (before === code) return;
  outbox.attention = code;
  if (code === 'changed-after-end') emit(run, 'order.changed_after_end');
  else if (code) emit(run, 'order.needs_attention', { reason: code });
  else emit(run, 'order.attention_over', { reason: before });
}

type Facts = Partial<Record<(typeof EVENT_TEXTS)[number], unknown>>;

/** Words and numbers, but no text in which something private could stand. */
const PLAIN = /^[\w.:-]{1,130}$/;

const textsOf = (facts: Facts): Partial<EventData> =>
  Object.fromEntries(
    EVENT_TEXTS.flatMap((field) => {
      const value = facts[field];
      return typeof value === 'string' && PLAIN.test(value) ? [[field, value]] : [];
    }),
  );

/** Workflow that the events are about: the ended one during the look-ups after its end. */
const subject = (): string => {
  const { workflowId } = workflowInfo();
  return parseAfterEndWorkflowId(workflowId)?.ended ?? workflowId;
};

function knownOf(run: OrderRun): Facts {
  const { order, orderId, type, request } = run;
  const ours = parseOrderWorkflowId(subject())?.orderId;
  const order_id = ours ?? (ORDER_ID_FORMAT.test(orderId) && !holdsWallet(orderId) ? orderId : undefined);
  if (order) {
    const { order_uuid, status, currency_from, currency_to, amount_from, amount_to } = order;
    const { expected_amount_from, expected_amount_to } = order;
    const amounts = { amount_from, amount_to, expected_amount_from, expected_amount_to };
    return { order_id, order_type: type, order_uuid, status, currency_from, currency_to, ...amounts };
  }
  const { currencyFrom, currencyTo } = orderSides(type, Object(request));
  // The request may be unchecked.
  const [currency_from, currency_to] = [currencyFrom, currencyTo].map((it) => (isKeyword(it) ? it : undefined));
  return { order_id, order_type: type, currency_from, currency_to };
}

/** Hands waiting events over once the receivers are known. Makes one hand-over at a time. */
export function handOver(run: OrderRun): Promise<void> {
  const { outbox } = run;
  if (!run.strictest.receivers || outbox.waiting.length === 0) return outbox.sending ?? Promise.resolve();
  outbox.sending ??= CancellationScope.nonCancellable(() => handAllOver(run));
  return outbox.sending;
}

async function handAllOver(run: OrderRun): Promise<void> {
  const { outbox, strictest } = run;
  while (outbox.waiting.length > 0) {
    const events = outbox.waiting.splice(0);
    const receivers = (strictest.receivers ?? []).filter((receiver) => events.some((event) => wants(receiver, event)));
    if (receivers.length > 0) await deliver(run, { receivers, events });
  }
  outbox.sending = undefined;
}

/** The delivery may end, or be started by another run, between two tries. */
const MOST_TRIES = 10;

/** Signals the open delivery of the order, or starts one. Waits for Temporal only. */
async function deliver({ outbox, account }: OrderRun, input: EventsInput): Promise<void> {
  const workflowId = deliveryWorkflowId(subject());
  let isOpen = outbox.isDelivering?.() ?? false;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      if (isOpen) return await getExternalWorkflowHandle(workflowId).signal(EVENTS_SIGNAL, input);
      const child = await startChild<(input: EventsInput) => Promise<void>>(DELIVER_EVENTS_WORKFLOW, {
        workflowId,
        args: [input],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      });
      const isOver = watch(child.result());
      outbox.isDelivering = () => !isOver();
      return;
    } catch {
      // Already started, or already closed.
      isOpen = !isOpen;
    }
  }
  log.error('events were not handed over', { events: input.events.map(({ id }) => id) });
}
