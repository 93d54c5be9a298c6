import type { EventKind } from '../../contract/events.js';
import { parseOrderWorkflowId } from '../../contract/names.js';
import { orderSides } from '../../contract/order/types.js';
import { holdsWallet } from '../../contract/wallets.js';
import { isCanary } from '../identity.js';
import { isKeyword } from '../keywords.js';
import { type Facts, put, subject } from '../outbox.js';
import { marksOf } from './payment.js';
import { type OrderRun, orderIdOf } from './state.js';

/** Records an event of an order. `later`: another one follows at once. */
export const emit = (run: OrderRun, type: EventKind, facts: Facts = {}, later = false): void =>
  isCanary(run) ? undefined : put(run.outbox, type, { ...knownOf(run), ...marksOf(run), ...facts }, later);

/** Emits a change of attention, by its code alone: its reason is free text. */
export function emitAttention(run: OrderRun): void {
  const { outbox, attention } = run;
  const [before, code] = [outbox.shown, attention?.code];
  if (before === code) return;
  outbox.shown = code;
  if (code === 'changed-after-end') emit(run, 'order.changed_after_end');
  else if (code) emit(run, 'order.needs_attention', { code });
  else emit(run, 'order.attention_over', { code: before });
}

/** Order ids, also of follow-ups. */
const SHOWN_ID = /^[\w.:-]{1,126}$/;

function knownOf(run: OrderRun): Facts {
  const { order, type, request } = run;
  const ours = parseOrderWorkflowId(subject())?.orderId ?? orderIdOf(run);
  // One that was refused may hold the wallet of its order.
  const isRefused = run.failure?.details?.flat().some((error) => Object(error).field === 'order.order_id');
  // An activity has checked the id of a run that it answered.
  const isShown =
    typeof ours === 'string' && SHOWN_ID.test(ours) && (run.answeredIn !== undefined || !holdsWallet(ours));
  const order_id = isShown && !isRefused ? ours : undefined;
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
