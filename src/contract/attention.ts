/**
 * Why a person should look at a workflow: THE closed set of codes. Lists show and find them by `PaymentAttentionReason`, programs by
 * `code`; what exactly happened stands in the words beside. Saved views and alert rules name them, so that none is ever renamed.
 */
export const ATTENTION_CODES = [
  // An order that waits for a decision and is not known to exist.
  'uncertain-create',
  'not-sent',
  'over-cap',
  'conflict',
  'order-missing',
  // An order that is final, with something left.
  'remainder',
  'follow-up-open',
  // What anything may meet that asks the service; it goes on by itself.
  'account-not-served',
  'service-down',
  'key-refused',
  'service-silent',
  // An order that waits until its account is set back, and one that goes on or has ended.
  'other-account',
  'read-failed',
  'unknown-status',
  'shown-otherwise',
  'undocumented-end',
  'remainder-unknown',
  'below-minimum',
  // An order whose run has ended, and of which the service shows something else now.
  'changed-after-end',
  // Something without the payload keys answered, or started a workflow.
  'foreign-answer',
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
  // A reconciliation.
  'no-result',
  'disagreement',
] as const;

/** One of the codes. */
export type AttentionCode = (typeof ATTENTION_CODES)[number];
