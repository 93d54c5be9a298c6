import { ATTENTION_WORDS, type AttentionWords, CONTINUES, NOT_AGAIN, type OrderAttention } from './attention.js';
import type { DecideAction, DecisionChoice } from './order/messages.js';

/*
 * The one table of words for people: the Temporal UI, the command line and the errors say the same.
 */

/** Words for an order of which a person can only correct by hand what is left. */
const BY_HAND: AttentionWords = {
  never: `${NOT_AGAIN}: the money that this order moved stays moved.`,
  todo: 'Look at the order at the service, correct by hand what is left, then choose accept.',
};

/** Words for an order that the service accepted for more than a cap or an approval allows. */
const ACCEPTED_ABOVE: AttentionWords = {
  never: CONTINUES,
  todo: 'Ask whoever started this order whether the amount is right. If it is not, ask the service to stop the order.',
};

/** Returns the words for an attention, by the decisions that would be taken now. */
export function attentionWords(code: OrderAttention, choices: readonly DecisionChoice[]): AttentionWords {
  if (code === 'over-cap' && choices.length === 0) return ACCEPTED_ABOVE;
  return code === 'remainder' && choices.length === 1 ? BY_HAND : ATTENTION_WORDS[code];
}

/** Effects of decisions that always have the same one. */
export const DECISION_WORDS = {
  resend: 'looks again, then sends the same order id again',
  'close-absent': 'proves again that the service has no such order, then ends this one',
  refuse: 'ends it without sending it',
  accept: 'ends the order as it is; what is left stays on the balance',
} as const satisfies Partial<Record<DecideAction, string>>;

/** Effect of `close-absent` while the service shows another payment under the id. */
export const CLOSE_CONFLICT =
  'The order shown is not ours. This decision ends this order for good, and its id cannot be used again. Pay the payee under a new id only after the service has confirmed that nothing of this order was paid';

/** Effect of `accept` after a change that came after the end. */
export const ACCEPT_CHANGE = 'records that you have seen the change; no money moves';

/** Whether an order was sent, where a person may wonder. */
export const SENT_WORDS = {
  perhaps: 'Perhaps. The money may already have moved.',
  unlessTaken: 'nothing, unless a worker has taken it since',
  nothing: 'nothing so far that Temporal knows of',
};

/** Shown where an order wants a person who cannot decide anything. */
export const NOTHING_TO_DECIDE = 'No decision is possible. Fix the cause shown above.';

/** Shown of an order whose cancellation was requested after it was sent. */
export const CANCEL_REQUESTED =
  'Cancellation requested. The order was already sent, so it is followed to its end. Nothing more is sent without a decision.';

/** Returns the message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error');
