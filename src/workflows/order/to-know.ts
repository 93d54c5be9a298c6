import {
  attentionWords,
  latestSendText,
  literal,
  type OrderAttention,
  REQUEST_CANCELLATION,
} from '../../contract/attention.js';
import type { DecisionChoice, ToKnow } from '../../contract/order/messages.js';
import { sendUntilMs } from './decision.js';
import { paymentOf, type Shown } from './payment.js';
import type { OrderRun } from './state.js';

type Deciding = Shown & Pick<OrderRun, 'account' | 'attention' | 'notes' | 'order'> & { facts: { cancelled: boolean } };

interface Known extends Pick<ToKnow, 'sent'> {
  orderId: string;
  choices: readonly DecisionChoice[];
  /** A create may have been sent. */
  isInDoubt: boolean;
  /** The order's own run has ended. */
  isEnded?: boolean;
}

/** Codes of questions after which an order may be sent. */
const SENDABLE = ['uncertain-create', 'not-sent', 'held', 'over-cap', 'short-of-funds', 'policy'];

/** Returns what a person has to know to decide, for all views. */
export function toKnow(run: Deciding, { orderId, sent, choices, isInDoubt, isEnded }: Known): ToKnow {
  const { account, attention, facts, notes, order } = run;
  const known = { sent, payment: paymentOf(run), ...(notes && { warnings: notes }) };
  if (!attention) return known;
  const about = { orderId: literal(`${orderId}`), account: literal(`${account}`) };
  const { never, todo: toDo } = attentionWords(attention.code as OrderAttention, choices, about);
  if (order || isEnded) return { never, ...known, toDo };
  const untilMs = sendUntilMs(run);
  const mayEnd = !facts.cancelled && !(choices.length > 0 && isInDoubt);
  return {
    ...{ never, ...known, toDo },
    ...(untilMs && SENDABLE.includes(attention.code) && { latestSend: latestSendText(untilMs) }),
    ...(mayEnd && { cancel: REQUEST_CANCELLATION }),
  };
}
