import { defineSearchAttributeKey } from '@temporalio/common';

/** Names that other programs depend on and that live in Temporal histories for ever. Never rename one. */

/** Task queue of all workflows and of activities that do not call the payment service. */
export const ORDERS_TASK_QUEUE = 'payment-orders';

/** Task queue of the creates of one account; rate limited apart from look-ups so that polls cannot starve payments. */
export const createTaskQueue = (account: string): string => `payment-service:${account}:create`;

/** Task queue of the signed reads of one account. */
export const lookupTaskQueue = (account: string): string => `payment-service:${account}:lookup`;

/** Task queue of the deliveries to one receiver of events. Only workers that know it poll it. */
export const eventsTaskQueue = (receiver: string): string => `payment-events-${receiver}`;

/** Priority of rows of batches: nobody waits for a single one. */
export const BATCH_ROW_PRIORITY = 4;

/** Workflow types that are not orders. */
export const SERVICE_READ_WORKFLOW = 'serviceRead';
/** Creates one permanent deposit address. */
export const DEPOSIT_ADDRESS_WORKFLOW = 'depositAddress';
/** Follows an order that a receipt on a permanent address made. */
export const RECEIVED_DEPOSIT_WORKFLOW = 'receivedDeposit';
/** Looks an order up again after its run has ended. */
export const ORDER_AFTER_END_WORKFLOW = 'orderAfterEnd';
/** Sends the withdrawals of a file. */
export const BULK_WITHDRAW_WORKFLOW = 'bulkWithdraw';
/** Started by a schedule: finds the period's file and runs its batch. */
export const SCHEDULED_BATCH_WORKFLOW = 'scheduledBatch';
/** Compares the service's orders, our workflows and the balances. */
export const RECONCILE_WORKFLOW = 'reconcile';

/** Delivers the events of one workflow. */
export const DELIVER_EVENTS_WORKFLOW = 'deliverEvents';

/** Signal: more events to deliver. */
export const EVENTS_SIGNAL = 'events';
/** Signal: send the undelivered events again. */
export const SEND_EVENTS_SIGNAL = 'send';
/** Signal: somebody claims that the order changed. A hint, never a fact. */
export const ORDER_CALLBACK_SIGNAL = 'orderCallback';
/** Query: where the order stands, why it waits and what may be decided. */
export const ORDER_STATE_QUERY = 'orderState';
/** Update (also its fixed update id): resolves once the order exists at the service. */
export const CREATED_UPDATE = 'created';
/** Update (also its fixed update id): resolves at the first final status. */
export const FINAL_UPDATE = 'final';
/** Update sent with a start: compares the input with the one that the order was started with. */
export const BEGIN_UPDATE = 'begin';
/** Update: a person's decision on a parked order. */
export const DECIDE_UPDATE = 'decide';

/** Typed keys of the custom search attributes that every namespace needs. */
export const searchAttribute = {
  account: defineSearchAttributeKey('PaymentAccount', 'KEYWORD'),
  /** `open`, `uncertain` or `parked` while so, then the final status; `none`: no order; `unresolved`: closed in doubt. */
  orderStatus: defineSearchAttributeKey('PaymentOrderStatus', 'KEYWORD'),
  orderUuid: defineSearchAttributeKey('PaymentOrderUuid', 'KEYWORD'),
  batchId: defineSearchAttributeKey('PaymentBatchId', 'KEYWORD'),
  currencyFrom: defineSearchAttributeKey('PaymentCurrencyFrom', 'KEYWORD'),
  currencyTo: defineSearchAttributeKey('PaymentCurrencyTo', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('PaymentNeedsAttention', 'BOOL'),
  /** Why, by one of `ATTENTION_CODES`. It, the next and the amount are there only while a person should look. */
  attentionReason: defineSearchAttributeKey('PaymentAttentionReason', 'KEYWORD'),
  attentionSince: defineSearchAttributeKey('PaymentAttentionSince', 'DATETIME'),
  /** Requested amount with its currency, such as `12.50 usd`; a text, because no amount is a floating point number. */
  amount: defineSearchAttributeKey('PaymentAmount', 'KEYWORD'),
} as const;

/** Their Temporal types by name. */
export const SEARCH_ATTRIBUTES = Object.fromEntries(
  Object.values(searchAttribute).map(({ name, type }) => [name, type]),
);

/** The account used when an input names none. */
export const DEFAULT_ACCOUNT = 'default';

/** `[a-z0-9-]{1,32}`: goes into task queue names and workflow ids. */
export const ACCOUNT_FORMAT = /^[a-z0-9-]{1,32}$/;

/** The name of a receiver of events: goes into task queue names. */
export const RECEIVER_FORMAT = /^[a-z0-9-]{1,32}$/;

/** The merchant's order id as a caller may choose it; `.r<digits>` endings belong to follow-ups. */
export const ORDER_ID_FORMAT = /^[A-Za-z0-9._:-]{1,120}$/;

/** The id of a follow-up: the id of the order it extends, then `.r1`, `.r2`, …; at most 126 characters. */
const FOLLOW_UP_ID_FORMAT = /^([A-Za-z0-9._:-]{1,120})\.r(\d{1,4})$/;

/** The service's order identifier as we accept it in URLs, ids and search attributes. */
export const ORDER_UUID_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;

/** Reference of a permanent deposit address, chosen by the caller. */
export const ADDRESS_REF_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;

/** A batch id: by default the first 16 hex digits of the file's hash. */
export const BATCH_ID_FORMAT = /^[A-Za-z0-9._-]{1,120}$/;

/** The id of a batch that was given none: the first 16 hex digits of the hash of its rows. */
export const defaultBatchId = (sha256: string): string => sha256.slice(0, 16);

/** Name of a payout plan that a schedule runs. */
export const PLAN_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;

/** Workflow id of a batch: the same batch always has the same id. */
export const batchWorkflowId = (account: string, batchId: string): string => `bulk:${account}:${batchId}`;

/** Workflow id of a plan, which sends nothing and may be made any number of times. */
export const batchPlanWorkflowId = (account: string, random: string): string => `bulk-plan:${account}:${random}`;

/** Workflow id that a schedule starts; Temporal appends the nominal time. */
export const scheduledBatchWorkflowId = (account: string, plan: string): string => `scheduled:${account}:${plan}`;

/** Id of the schedule of a plan. */
export const scheduleIdOf = (account: string, plan: string): string => `${account}.${plan}`;

/** Batch id of a plan's period. */
export const periodBatchId = (plan: string, period: string): string => `${plan}.${period}`;

/** Workflow id of the reconciliation of an account: one at a time. */
export const reconcileWorkflowId = (account: string): string => `reconcile:${account}`;

/** Workflow id of an order. Business keys only: the same order always has the same id. */
export const orderWorkflowId = (account: string, orderId: string): string => `order:${account}:${orderId}`;

/** Workflow id of the follower of a receipt on a permanent address, by the service's id: there is no other. */
export const receivedWorkflowId = (account: string, orderUuid: string): string => `received:${account}:${orderUuid}`;

const AFTER_END = 'after-end:';

/** Workflow id of the look-ups after the end of an order's or a receipt's workflow. */
export const afterEndWorkflowId = (ended: string): string => `${AFTER_END}${ended}`;

/** Workflow id of the delivery of a workflow's events. */
export const deliveryWorkflowId = (workflowId: string): string => `events:${workflowId}`;

/** Workflow id of a permanent deposit address. */
export const addressWorkflowId = (account: string, ref: string): string => `address:${account}:${ref}`;

/** Workflow id of a signed read; random, as that of a plan, because a read may be repeated freely. */
export const readWorkflowId = (account: string, random: string): string => `read:${account}:${random}`;

/** Order id of the n-th follow-up of an order. */
export const followUpOrderId = (orderId: string, n: number): string => `${orderId}.r${n}`;

/** Follow-ups that are looked for when it counts whether any exist; each but the first took a person's decision. */
const MOST_FOLLOW_UPS = 20;

/** The ids that the follow-ups of an order have, the first ones. */
export const followUpOrderIds = (orderId: string): string[] =>
  Array.from({ length: MOST_FOLLOW_UPS }, (_, index) => followUpOrderId(orderId, index + 1));

/** Splits a follow-up's order id; undefined when the id is not one of a follow-up. */
export function parseFollowUpOrderId(orderId: string): { extendsOrderId: string; n: number } | undefined {
  const match = FOLLOW_UP_ID_FORMAT.exec(orderId);
  return match?.[1] ? { extendsOrderId: match[1], n: Number(match[2]) } : undefined;
}

/** Fewest characters of an id that was cut at its end: shorter beginnings are common to many ids. */
const MIN_CUT_LENGTH = 32;

/** Returns true for an order id, or for the form in which a service stores it: another case, without leading zeros, escaped, cut. */
export function isFormOfId(shown: string, orderId: string): boolean {
  if (shown === orderId) return true;
  const [stored, ours] = [shown, orderId].map((id) =>
    id
      .trim()
      .toLowerCase()
      .replaceAll('%3a', ':')
      .replace(/^0+(?=\d+$)/, ''),
  );
  return stored === ours || (shown.length >= MIN_CUT_LENGTH && ours?.startsWith(stored ?? '') === true);
}

/** Splits an order's workflow id; undefined when it is not one. */
export function parseOrderWorkflowId(workflowId: string): { account: string; orderId: string } | undefined {
  const match = /^order:([a-z0-9-]{1,32}):(.+)$/.exec(workflowId);
  return match?.[1] && match[2] ? { account: match[1], orderId: match[2] } : undefined;
}

/** Splits the workflow id of a follower of a receipt; undefined when it is not one. */
export function parseReceivedWorkflowId(workflowId: string): { account: string; orderUuid: string } | undefined {
  const match = /^received:([a-z0-9-]{1,32}):([A-Za-z0-9_-]{1,64})$/.exec(workflowId);
  return match?.[1] && match[2] ? { account: match[1], orderUuid: match[2] } : undefined;
}

/** Splits the workflow id of look-ups after an end; undefined when it is not one. */
export function parseAfterEndWorkflowId(workflowId: string) {
  const ended = workflowId.startsWith(AFTER_END) ? workflowId.slice(AFTER_END.length) : '';
  const received = parseReceivedWorkflowId(ended);
  const about = parseOrderWorkflowId(ended) ?? (received && { account: received.account, orderId: received.orderUuid });
  return about && { ...about, ended, isReceived: received !== undefined };
}

/** A string literal of the visibility query language. Control characters never occur in what is searched for. */
export const quoted = (text: string): string =>
  `'${text
    .replace(/\p{Cc}/gu, '')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")}'`;
