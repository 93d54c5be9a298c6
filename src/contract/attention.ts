import { maskWords } from './masking.js';
import { hasFormOf } from './names.js';
import type { DecideAction, DecisionChoice, DecisionRecord } from './order/messages.js';
import type { Order } from './service-objects.js';

/*
 * Reason codes of attention, shown and searched by `PaymentAttentionReason`. Saved views and alert
 * rules use them, so no code is ever renamed.
 */

/** Words for a code: what nobody may do while the order waits, and what to do. */
interface AttentionWords {
  never: string;
  todo: string;
}

/** Warning against a second payment while an order waits. */
const NOT_AGAIN = 'Never start this payment under another order id';
/** The same warning for an order that needs no decision. */
const CONTINUES = `${NOT_AGAIN}: this order continues by itself.`;
/** Effect of the button of the Temporal UI on an order that may be unsent. */
export const REQUEST_CANCELLATION =
  '*Request Cancellation* (a button of the Temporal UI) ends this order as `OrderCancelled` if nothing was sent. If something was sent, the order is followed to its end, and nothing more is sent without a decision.';
/**
 * Returns the advice for orders in doubt of one account: which one to decide first, since most
 * others follow it; undefined if none follows any.
 */
export function decideOne(orderIds: readonly string[]): string | undefined {
  const followers = orderIds.map((id) => orderIds.filter((other) => other !== id && hasFormOf(id, other)).length);
  const most = Math.max(0, ...followers);
  if (most === 0) return undefined;
  const left = orderIds.length - 1 - most;
  const others = left > 0 ? `; the other ${left} have ids of another form and need decisions of their own` : '';
  return `Decide ${orderIds[followers.indexOf(most)]} first, if it may be sent again: ${most} more follow by themselves once the service shows it${others}.`;
}
/** Advice for orders that send nothing while a person is asked. */
const OR_WAIT = 'If you cannot find out now, wait: nothing is sent without a decision.';

/**
 * Codes of orders with their words. The attention's own reason says what happened. `{order}` and
 * `{account}` stand for the names.
 */
export const ATTENTION_WORDS = {
  'uncertain-create': {
    never: `${NOT_AGAIN}: it may have been paid.`,
    todo: 'Ask the service about {order}. If the service has the order, choose adopt. If it does not have the order and never will, choose resend (still wanted) or close-absent (not wanted). If it cannot say, wait.',
  },
  'not-sent': {
    never: `${NOT_AGAIN}: this one can still be sent.`,
    todo: `Ask whoever started this order whether it is still wanted. If it is, correct what *Why* names (a time that has passed needs nothing), then choose resend. If it is not, choose close-absent. ${OR_WAIT}`,
  },
  held: {
    never: `${NOT_AGAIN}: once released, both would be paid.`,
    todo: 'Ask the person who held it. If the reason is gone, choose release. If the payment is no longer wanted, choose refuse. If this is still disputed or unclear, wait: nothing is sent without a decision.',
  },
  'over-cap': {
    never: `${NOT_AGAIN}: once approved, both would be paid.`,
    todo: `Ask whoever started this order whether the amount is right. If it is, choose approve, otherwise refuse. ${OR_WAIT}`,
  },
  'short-of-funds': {
    never: `${NOT_AGAIN}: this one can still be sent.`,
    todo: `Ask whoever started this order whether it is still wanted. If it is, choose resend, and pay in what is missing: paying in alone sends nothing. If it is not, choose refuse. ${OR_WAIT}`,
  },
  policy: {
    never: `${NOT_AGAIN}: once approved, both would be paid.`,
    todo: `Ask whoever started this order why it has to break these rules. If it must be paid, choose approve, otherwise refuse. Whoever started it must not approve it. ${OR_WAIT}`,
  },
  conflict: {
    never: `${NOT_AGAIN} while this waits: the order that the service shows may be this payment.`,
    todo: `Ask the service who created the order shown, and whoever started this order which values are right. If it is this payment, even with another amount, choose adopt. If it is the payment of somebody else, choose close-absent. ${OR_WAIT}`,
  },
  'order-missing': {
    never: `${NOT_AGAIN}: the service showed it before.`,
    todo: 'Ask the service what happened to {order}. If the service has it, choose adopt. If the service confirms that it never will, choose close-absent. If it cannot say, wait.',
  },
  remainder: {
    never: 'Never pay what is left by hand, nor under another order id, while this waits: it could be paid twice.',
    todo: `Ask whoever started this order whether the rest is still wanted. ${OR_WAIT}`,
  },
  'follow-up-open': {
    never: 'Never pay what is left by hand, nor under another order id: a follow-up may be paying it.',
    todo: 'Wait: as soon as the follow-up ends, this order ends by itself. Only if whoever started this order does not want the rest any more, choose accept: it cancels the follow-up if that was not sent yet.',
  },
  'account-not-served': {
    never: `${NOT_AGAIN} or account while it waits: as soon as a worker starts, this order is paid.`,
    todo: 'Ask whoever runs the workers to start one that serves {account}. Only if the account name is wrong: *Request Cancellation*. If the order then ends as `OrderCancelled`, nothing was sent: start it with the right account. If it ends otherwise or stays open, it may have been sent: start nothing, and ask the service about {order}.',
  },
  'service-down': {
    never: CONTINUES,
    todo: 'Ask whoever runs the workers whether their network reaches the service. If it does, ask the service when it will work again.',
  },
  'key-refused': {
    never: CONTINUES,
    todo: 'Ask whoever keeps the keys of {account} for the right key and secret, or the service if they were blocked. Whoever runs the workers puts them in and restarts the workers.',
  },
  'service-silent': { never: CONTINUES, todo: 'Read the last failure of the pending activity.' },
  'other-account': {
    never: `${NOT_AGAIN} or account: it may exist where it was sent.`,
    todo: 'Ask whoever changed the base URL or the key of {account} to set it back: the order then continues within two minutes. Choose approve only if the service confirms that both are one account, or that the other one has no such order: otherwise it may be paid twice. If you cannot find out now, wait.',
  },
  'read-failed': { never: CONTINUES, todo: 'Read the failed activity in the history.' },
  'unknown-status': { never: CONTINUES, todo: 'Report the status to the developers.' },
  'shown-otherwise': { never: CONTINUES, todo: 'Compare the named fields at the service.' },
  'undocumented-end': { never: `${NOT_AGAIN} before you know what happened to this one.`, todo: 'Ask the service.' },
  'remainder-unknown': {
    never: 'Never pay what may be left by hand, nor under another order id, before you know what it is.',
    todo: 'Look at the balance changes of the order at the service.',
  },
  'below-minimum': { never: `${NOT_AGAIN}: only the rest named here is left.`, todo: 'Book the rest by hand.' },
  'changed-after-end': {
    never: 'Never pay this again, and pay nothing back, before you know what the service did.',
    todo: `Ask the service why it changed, and where the money is now. Then correct by hand whatever used the earlier state, such as books or goods. Once that is done, choose accept. ${OR_WAIT}`,
  },
  'foreign-answer': {
    never: CONTINUES,
    todo: 'Find out which program uses this Temporal namespace without the payload keys.',
  },
} as const satisfies Record<string, AttentionWords>;

/** Codes of orders. */
export type OrderAttention = keyof typeof ATTENTION_WORDS;

const OTHER_CODES = [
  // A program without the payload keys started a workflow.
  'foreign-start',
  // Accounts.
  'account-stopped',
  // Batches.
  'approval',
  'batch-paused',
  'batch-stopped',
  'batch-held',
  'not-written',
  'row-unresolved',
  // Permanent addresses.
  'no-address',
  'more-addresses',
  // Deliveries of events.
  'event-undelivered',
  // Reconciliations.
  'no-result',
  'disagreement',
] as const;

/** Why a person should look at an order, batch or reconciliation. */
export type AttentionCode = OrderAttention | (typeof OTHER_CODES)[number];

/** All codes of attention. */
export const ATTENTION_CODES: readonly AttentionCode[] = [
  ...(Object.keys(ATTENTION_WORDS) as OrderAttention[]),
  ...OTHER_CODES,
];

/* The Temporal UI, the command line and the errors use these words. */

const BY_HAND: AttentionWords = {
  never: `${NOT_AGAIN}: the money that this order moved stays moved.`,
  todo: 'Look at the order at the service, correct by hand what is left, then choose accept.',
};

/** The service accepted the order above a cap or an approval. */
const ACCEPTED_ABOVE: AttentionWords = {
  never: CONTINUES,
  todo: 'Ask whoever started this order whether the amount is right. If it is not, ask the service to stop the order.',
};

/** Returns the words for an attention of an order with its possible decisions. */
export function attentionWords(
  code: OrderAttention,
  choices: readonly DecisionChoice[],
  { orderId, account }: { orderId: string; account: string },
): AttentionWords {
  const { never, todo } = wordsOf(code, choices);
  return { never, todo: todo.replace('{order}', `order id ${orderId}`).replace('{account}', `account ${account}`) };
}

/** Returns until when an unsent order may be sent, and what to do later. */
export const latestSendText = (untilMs: number): string =>
  `${timeShown(new Date(untilMs).toISOString())}. Later, nothing is sent, whatever you choose: choose close-absent or refuse. If the payment is still wanted then, start it again under the same id (\`--again\`) with a later \`latestSend\`, never under another id.`;

function wordsOf(code: OrderAttention, choices: readonly DecisionChoice[]): AttentionWords {
  if (code === 'over-cap' && choices.length === 0) return ACCEPTED_ABOVE;
  return code === 'remainder' && choices.length === 1 ? BY_HAND : ATTENTION_WORDS[code];
}

/** Effects of decisions that do not depend on the order. */
export const DECISION_WORDS = {
  resend: 'looks again, then sends the same order id again',
  'close-absent': 'proves again that the service has no such order, then ends this one',
  release: 'sends it if all checks still allow that',
  refuse: 'ends it without sending it',
  accept: 'ends the order as it is; what is left stays on the balance',
} as const satisfies Partial<Record<DecideAction, string>>;

/** Effect of `close-absent` while the service shows another payment under the id. */
export const CLOSE_CONFLICT =
  'The order shown is not ours. This decision ends this order for good, and its id cannot be used again. Pay the payee under a new id only after the service has confirmed that nothing of this order was paid';

/** Effects of `approve` and `resend` while the balance does not cover an order. */
export const SEND_SHORT =
  'sends it now, although money seems to be missing: right only if you know that the balance is wrong';
export const WAIT_FOR_FUNDS =
  'lets it wait for money: sends nothing now; the worker sends it by itself as soon as the balance covers it';

/** Effect of `accept` after a change that followed the end. */
export const ACCEPT_CHANGE = 'records that you have seen the change; no money moves';

/** Effect of `approve` on an order that breaches the policy. */
export const APPROVE_BREACH =
  'counts as your approval of every rule that is named; the order is sent once it has all approvals that it needs';

/** Whether an order was sent. */
const SENT_WORDS = {
  perhaps:
    'Perhaps. The money may already have moved. Do not terminate this workflow: nobody would follow the payment.',
  unlessTaken: 'nothing, unless a worker has taken it since',
  nothing: 'nothing, by the record of this order',
};

/** Returns an order of the service in words: its status and its order_uuid. */
export const orderShown = ({ status, order_uuid: uuid }: Pick<Order, 'status' | 'order_uuid'>): string =>
  `\`${status}\`, order \`${uuid}\``;

/** Returns whether an order was sent, in words. Without `order`, it may have been sent. */
export function sentWords(order: Order | undefined, mayHaveSent: boolean, code: string | undefined): string {
  if (order) return `yes. The service shows ${orderShown(order)}`;
  if (mayHaveSent) return SENT_WORDS.perhaps;
  // The attempt stays queued, and its attention stays until it has ended.
  return code === 'account-not-served' ? SENT_WORDS.unlessTaken : SENT_WORDS.nothing;
}

/** Text for an order that needs a person but no decision. */
export const NOTHING_TO_DECIDE = 'No decision is possible. Fix the cause shown above.';

/** Text for an order that goes on after its cancellation. */
export const CANCEL_REQUESTED =
  'Cancellation requested. If the order was sent, it is followed to its end. Nothing more is sent without a decision.';

/** Returns a text of others as code, so that it cannot look like a part of the page. */
export const literal = (text: string): string => `\`${text.replace(/[`\s]+/g, ' ').trim() || '-'}\``;

export const timeShown = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** Returns who decided, when and why, for the end of an order. */
export const decidedBy = ({ by, at, reason }: Pick<DecisionRecord, 'by' | 'at' | 'reason'>): string =>
  `${maskWords(by)} (${timeShown(at)}, "${maskWords(reason)}")`;

/** Returns the end of an order that a person refused. `why`: what the order had waited for. */
export const refusedText = (orderId: string, who: string, why: string): string =>
  `order ${orderId} was refused by ${who} and never sent, so no money moved. It had waited for a decision: ${why}`;

/* Placeholders that a person replaces. */
export const YOUR_NAME = '<your name>';
export const WHY = '<why>';
export const ITS_UUID = '<its order_uuid>';

/**
 * Returns true for an unfilled placeholder. Results and the audit record need real names and
 * reasons.
 */
export const isPlaceholder = (text: string): boolean => /^\s*<[^<>]*>\s*$/.test(text);
