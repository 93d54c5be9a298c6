/*
 * Why a person should look at a workflow: THE closed set of codes, shown and found by
 * `PaymentAttentionReason`. Saved views and alert rules name them, so none is ever renamed.
 */

/** Words for an attention code: what must never be done while the order waits, and what to do. */
export interface AttentionWords {
  never: string;
  todo: string;
}

/** The warning against a second payment while an order waits. */
export const NOT_AGAIN = 'Never start this payment under another order id';
/** The same of an order that needs no decision. */
export const CONTINUES = `${NOT_AGAIN}: this order continues by itself.`;

/**
 * Codes of orders with their words. What exactly happened stands in the attention's own reason.
 */
export const ATTENTION_WORDS = {
  'uncertain-create': {
    never: `${NOT_AGAIN}: it may have been paid.`,
    todo: 'Ask the service about this order id. If the service has the order, choose adopt. If it does not have the order and never will, choose resend (still wanted) or close-absent (not wanted). If it cannot say, wait.',
  },
  'not-sent': {
    never: `${NOT_AGAIN}: this one can still be sent.`,
    todo: 'Correct what the reason names, then decide.',
  },
  'over-cap': {
    never: `${NOT_AGAIN}: once approved, both would be paid.`,
    todo: 'Ask whoever started this order whether the amount is right.',
  },
  conflict: {
    never: `${NOT_AGAIN}: the order that the service shows may be this payment.`,
    todo: 'Compare the values at the service, and find out whose order it is.',
  },
  'order-missing': {
    never: `${NOT_AGAIN}: the service showed it before.`,
    todo: 'Ask the service what happened to the order.',
  },
  remainder: {
    never: 'Never pay what is left by hand, nor under another order id, while this waits: it could be paid twice.',
    todo: 'Ask whoever started this order whether the rest is still wanted.',
  },
  'follow-up-open': {
    never: 'Never pay what is left by hand, nor under another order id: a follow-up may be paying it.',
    todo: 'Wait: the follow-up is still looked up. Or choose accept, which cancels what was not sent yet.',
  },
  'account-not-served': {
    never: `${NOT_AGAIN} or account while it waits: as soon as a worker starts, this order is paid.`,
    todo: 'Start a worker that serves the account. If the account name is wrong and nothing was sent, cancel the order, wait until it ends as `OrderCancelled`, then start it with the right account.',
  },
  'service-down': { never: CONTINUES, todo: 'Check the service and the network between it and the worker.' },
  'key-refused': {
    never: CONTINUES,
    todo: "Correct the account's key and secret, then restart its workers.",
  },
  'service-silent': { never: CONTINUES, todo: 'Read the last failure of the pending activity.' },
  'other-account': {
    never: `${NOT_AGAIN} or account: it may exist where it was sent.`,
    todo: 'Set the base URL or the key back. The order then continues within two minutes.',
  },
  'read-failed': { never: CONTINUES, todo: 'Read the failed activity in the history.' },
  'unknown-status': { never: CONTINUES, todo: 'Report the status to the developers.' },
  'shown-otherwise': { never: CONTINUES, todo: 'Compare the named fields at the service.' },
  'undocumented-end': {
    never: `${NOT_AGAIN} before you know what happened to this one.`,
    todo: 'Ask the service.',
  },
  'remainder-unknown': {
    never: 'Never pay what may be left by hand, nor under another order id, before you know what it is.',
    todo: 'Look at the balance changes of the order at the service.',
  },
  'below-minimum': {
    never: `${NOT_AGAIN}: only the rest named here is left.`,
    todo: 'Book the rest by hand.',
  },
  'changed-after-end': {
    never: 'Never pay this again, and pay nothing back, before you know what the service did.',
    todo: 'Compare both states at the service, and correct by hand whatever used the earlier one.',
  },
  'foreign-answer': {
    never: CONTINUES,
    todo: 'Find out which program uses this Temporal namespace without the payload keys.',
  },
} as const satisfies Record<string, AttentionWords>;

/** Codes for which an order wants a person. */
export type OrderAttention = keyof typeof ATTENTION_WORDS;

const OTHER_CODES = [
  // Something without the payload keys started a workflow.
  'foreign-start',
  // A batch.
  'approval',
  'batch-paused',
  'batch-stopped',
  'batch-held',
  'not-written',
  'row-unresolved',
  // A permanent address.
  'no-address',
  'more-addresses',
  // A delivery of events.
  'event-undelivered',
  // A reconciliation.
  'no-result',
  'disagreement',
] as const;

/** One of the codes. */
export type AttentionCode = OrderAttention | (typeof OTHER_CODES)[number];

/** All codes. */
export const ATTENTION_CODES: readonly AttentionCode[] = [
  ...(Object.keys(ATTENTION_WORDS) as OrderAttention[]),
  ...OTHER_CODES,
];
