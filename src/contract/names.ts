import { defineSearchAttributeKey } from '@temporalio/common';

/** Names that other programs depend on and that live in Temporal histories for ever. Never rename one. */

/** Task queue of all workflows and of activities that do not call the payment service. */
export const ORDERS_TASK_QUEUE = 'payment-orders';

/** Task queue of the creates of one account; rate limited apart from look-ups so that polls cannot starve payments. */
export const createTaskQueue = (account: string): string => `payment-service:${account}:create`;

/** Task queue of the signed reads of one account. */
export const lookupTaskQueue = (account: string): string => `payment-service:${account}:lookup`;

/** Workflow types that are not orders. */
export const SERVICE_READ_WORKFLOW = 'serviceRead';
/** Creates one permanent deposit address. */
export const DEPOSIT_ADDRESS_WORKFLOW = 'depositAddress';
/** Follows an order that a receipt on a permanent address made. */
export const RECEIVED_DEPOSIT_WORKFLOW = 'receivedDeposit';
/** Sends the withdrawals of a file. */
export const BULK_WITHDRAW_WORKFLOW = 'bulkWithdraw';
/** What a schedule starts: finds the period's file and runs its batch. */
export const SCHEDULED_BATCH_WORKFLOW = 'scheduledBatch';
/** Compares the service's orders, our workflows and the balances. */
export const RECONCILE_WORKFLOW = 'reconcile';

/** Signal: somebody claims that the order changed. A hint, never a fact. */
export const ORDER_CALLBACK_SIGNAL = 'orderCallback';
/** Query: where the order stands, why it waits and what may be decided. */
export const ORDER_STATE_QUERY = 'orderState';
/** Update (also its fixed update id): resolves once the order exists at the service. */
export const CREATED_UPDATE = 'created';
/** Update (also its fixed update id): resolves at the first final status. */
export const FINAL_UPDATE = 'final';
/** Update: a person's decision on a parked order. */
export const DECIDE_UPDATE = 'decide';

/** Custom search attributes every namespace needs, with their Temporal types. */
export const SEARCH_ATTRIBUTES = {
  PaymentAccount: 'KEYWORD',
  PaymentOrderStatus: 'KEYWORD',
  PaymentOrderUuid: 'KEYWORD',
  PaymentBatchId: 'KEYWORD',
  PaymentCurrencyFrom: 'KEYWORD',
  PaymentCurrencyTo: 'KEYWORD',
  PaymentNeedsAttention: 'BOOL',
} as const;

/** Typed keys of the search attributes of order workflows (types: SEARCH_ATTRIBUTES in names.ts). */
export const searchAttribute = {
  account: defineSearchAttributeKey('PaymentAccount', 'KEYWORD'),
  /** `open`, `uncertain` or `parked` while so, then the final status; `none` when no order came to exist. */
  orderStatus: defineSearchAttributeKey('PaymentOrderStatus', 'KEYWORD'),
  orderUuid: defineSearchAttributeKey('PaymentOrderUuid', 'KEYWORD'),
  batchId: defineSearchAttributeKey('PaymentBatchId', 'KEYWORD'),
  currencyFrom: defineSearchAttributeKey('PaymentCurrencyFrom', 'KEYWORD'),
  currencyTo: defineSearchAttributeKey('PaymentCurrencyTo', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('PaymentNeedsAttention', 'BOOL'),
} as const;
