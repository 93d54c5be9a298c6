import { defineSearchAttributeKey } from '@temporalio/common';

/** Names that other programs use and that histories contain. Never rename one. */

export const ORDERS_TASK_QUEUE = 'payment-orders';

/**
 * Returns the task queue of an account's creates, separate from look-ups, so that polls cannot
 * delay payments.
 */
export const createTaskQueue = (account: string): string => `payment-service:${account}:create`;

export const lookupTaskQueue = (account: string): string => `payment-service:${account}:lookup`;

/** Returns the task queue of deliveries to a receiver, polled by the workers that have it. */
export const eventsTaskQueue = (receiver: string): string => `payment-events-${receiver}`;

/** Priority of workflows that can only stop or hold money: before all that move it. */
export const BRAKE_PRIORITY = 1;

/** Priority of batch rows, for which no caller waits. */
export const BATCH_ROW_PRIORITY = 4;
/** Priority of an event that was refused: new ones come first. */
export const AGAIN_PRIORITY = 5;

/** Name that requests to the service and to receivers of events carry. */
export const USER_AGENT = 'payment-orders';

/* Types of workflows that are not orders. */
export const SERVICE_READ_WORKFLOW = 'serviceRead';
export const BATCH_FILES_WORKFLOW = 'batchFiles';
export const DEPOSIT_ADDRESS_WORKFLOW = 'depositAddress';
export const RECEIVED_DEPOSIT_WORKFLOW = 'receivedDeposit';
export const ORDER_AFTER_END_WORKFLOW = 'orderAfterEnd';
export const BULK_WITHDRAW_WORKFLOW = 'bulkWithdraw';
export const SCHEDULED_BATCH_WORKFLOW = 'scheduledBatch';
export const RECONCILE_WORKFLOW = 'reconcile';
/** Delivers the events of one workflow. */
export const DELIVER_EVENTS_WORKFLOW = 'deliverEvents';
/** Open while an account is stopped. */
export const ACCOUNT_STOP_WORKFLOW = 'accountStop';
/** Line of an account's orders that wait for funds. */
export const FUNDS_LINE_WORKFLOW = 'fundsLine';
/** Sends one canary of an account, and is open for the window in which no other one is sent. */
export const CANARY_WORKFLOW = 'canary';
/** Reference of the deposit orders that it starts. Lists and books show it. */
export const CANARY_REFERENCE = 'canary';
/** Keeps the sums of an account. */
export const POLICY_WORKFLOW = 'policy';
/** Update with questions about orders. Its answer has one entry for each. */
export const ASK_POLICY_UPDATE = 'ask';

/** Signal with more events to deliver. */
export const EVENTS_SIGNAL = 'events';
/** Signal to send the undelivered events again. */
export const SEND_EVENTS_SIGNAL = 'send';
/** Signals of an order to the line of its account. */
export const JOIN_LINE_SIGNAL = 'join';
export const LEAVE_LINE_SIGNAL = 'leave';
/** Signal to the line: the smallest covered order may overtake once. */
export const GO_FIRST_SIGNAL = 'goFirst';
/** Signal of the line to an order: it has its funds, or what is missing. */
export const FUNDS_SIGNAL = 'funds';
/** Signal of an unproven claim that the order changed. */
export const ORDER_CALLBACK_SIGNAL = 'orderCallback';
/** Query of the state, the reason for waiting, and the possible decisions. */
export const ORDER_STATE_QUERY = 'orderState';
/** Update, and its fixed update id: resolves when the order exists at the service. */
export const CREATED_UPDATE = 'created';
/** Update, and its fixed update id: resolves at the first final status. */
export const FINAL_UPDATE = 'final';
/** Update sent with a start: compares the input with the one that the order was started with. */
export const BEGIN_UPDATE = 'begin';
/** Update with a person's decision on a parked order. */
export const DECIDE_UPDATE = 'decide';

/** Update that holds an unsent order. */
export const HOLD_UPDATE = 'hold';
/** Updates of the workflow `accountStop`. */
export const STOP_ACCOUNT_UPDATE = 'stopAccount';
export const RESUME_ACCOUNT_UPDATE = 'resumeAccount';
/** Memo of a stopped account: who stopped it, why and when. Workers read it before every send. */
export const STOP_MEMO = 'stop';
/** Memo with the stop that a run is asked for. Until it is taken, workers heed it for a moment. */
export const STOP_ASKED_MEMO = 'stopAsked';

/** Keys of the custom search attributes that every namespace needs. */
export const searchAttribute = {
  account: defineSearchAttributeKey('PaymentAccount', 'KEYWORD'),
  /**
   * `open`, `uncertain`, `parked` or `short` (waits for funds), then the final status. `none`: no
   * order; `unresolved`: closed in doubt.
   */
  orderStatus: defineSearchAttributeKey('PaymentOrderStatus', 'KEYWORD'),
  orderUuid: defineSearchAttributeKey('PaymentOrderUuid', 'KEYWORD'),
  batchId: defineSearchAttributeKey('PaymentBatchId', 'KEYWORD'),
  /** The caller's reference. Set only if given. */
  reference: defineSearchAttributeKey('PaymentReference', 'KEYWORD'),
  currencyFrom: defineSearchAttributeKey('PaymentCurrencyFrom', 'KEYWORD'),
  currencyTo: defineSearchAttributeKey('PaymentCurrencyTo', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('PaymentNeedsAttention', 'BOOL'),
  /**
   * Reason by `ATTENTION_CODES`. This key and the next two are set only while a person should look.
   */
  attentionReason: defineSearchAttributeKey('PaymentAttentionReason', 'KEYWORD'),
  attentionSince: defineSearchAttributeKey('PaymentAttentionSince', 'DATETIME'),
  /**
   * Requested amount such as `12.50 usd`. A text, because amounts are not floating-point numbers.
   */
  amount: defineSearchAttributeKey('PaymentAmount', 'KEYWORD'),
} as const;

export const SEARCH_ATTRIBUTES = Object.fromEntries(
  Object.values(searchAttribute).map(({ name, type }) => [name, type]),
);

export const DEFAULT_ACCOUNT = 'default';

/* Formats. Endings such as `.r1` are reserved for follow-ups. */
export const ACCOUNT_FORMAT = /^[a-z0-9-]{1,32}$/;
/** Format of a receiver's name, which task queue names contain. */
export const RECEIVER_FORMAT = /^[a-z0-9-]{1,32}$/;
export const ORDER_ID_FORMAT = /^[A-Za-z0-9._:-]{1,120}$/;
const FOLLOW_UP_ID_FORMAT = /^([A-Za-z0-9._:-]{1,120})\.r(\d{1,4})$/;
export const ORDER_UUID_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;
export const ADDRESS_REF_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;
export const BATCH_ID_FORMAT = /^[A-Za-z0-9._-]{1,120}$/;
export const PLAN_FORMAT = /^[A-Za-z0-9_-]{1,64}$/;
/** Format of a caller's reference, without blanks and `@`, because everybody may read it. */
export const REFERENCE_FORMAT = /^[A-Za-z0-9._:/#-]{1,64}$/;
export const METADATA_KEY_FORMAT = /^[A-Za-z0-9_.-]{1,40}$/;
export const METADATA_VALUE_FORMAT = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,200}$/u;

/* Ids of batches, schedules and follow-ups. */
export const defaultBatchId = (sha256: string): string => sha256.slice(0, 16);
export const periodBatchId = (plan: string, period: string): string => `${plan}.${period}`;
export const scheduleIdOf = (account: string, plan: string): string => `${account}.${plan}`;
export const followUpOrderId = (orderId: string, n: number): string => `${orderId}.r${n}`;

/*
 * Workflow ids. They derive from business keys, so the same order has the same id; those of plans
 * and reads are random.
 */
export const orderWorkflowId = (account: string, orderId: string): string => `order:${account}:${orderId}`;
export const receivedWorkflowId = (account: string, orderUuid: string): string => `received:${account}:${orderUuid}`;
export const addressWorkflowId = (account: string, ref: string): string => `address:${account}:${ref}`;
export const batchWorkflowId = (account: string, batchId: string): string => `bulk:${account}:${batchId}`;
export const batchPlanWorkflowId = (account: string, random: string): string => `bulk-plan:${account}:${random}`;
/** Temporal appends the nominal time. */
export const scheduledBatchWorkflowId = (account: string, plan: string): string => `scheduled:${account}:${plan}`;
export const reconcileWorkflowId = (account: string): string => `reconcile:${account}`;
export const readWorkflowId = (account: string, random: string): string => `read:${account}:${random}`;
export const fundsLineWorkflowId = (account: string): string => `funds:${account}`;
export const canaryWorkflowId = (account: string): string => `canary:${account}`;
const AFTER_END = 'after-end:';
export const afterEndWorkflowId = (ended: string): string => `${AFTER_END}${ended}`;
export const policyWorkflowId = (account: string): string => `policy:${account}`;
export const accountStopWorkflowId = (account: string): string => `stop:${account}`;
export const deliveryWorkflowId = (workflowId: string): string => `events:${workflowId}`;
const GONE_RECEIVER = deliveryWorkflowId('gone:');
/** Returns the id of the delivery that is open while a receiver wants no more events. */
export const goneReceiverWorkflowId = (receiver: string): string => `${GONE_RECEIVER}${receiver}`;
export const parseGoneReceiverWorkflowId = (workflowId: string): string | undefined =>
  workflowId.startsWith(GONE_RECEIVER) ? workflowId.slice(GONE_RECEIVER.length) : undefined;

/** Maximum follow-ups to search for. A person decided each one after the first. */
const MOST_FOLLOW_UPS = 20;

export const followUpOrderIds = (orderId: string): string[] =>
  Array.from({ length: MOST_FOLLOW_UPS }, (_, index) => followUpOrderId(orderId, index + 1));

export function parseFollowUpOrderId(orderId: string): { extendsOrderId: string; n: number } | undefined {
  const match = FOLLOW_UP_ID_FORMAT.exec(orderId);
  return match?.[1] ? { extendsOrderId: match[1], n: Number(match[2]) } : undefined;
}

/** Returns the id of the order that a follow-up extends. Returns any other id itself. */
export const extendedOrderId = (orderId: string): string => parseFollowUpOrderId(orderId)?.extendsOrderId ?? orderId;

/** Minimum length of an id that was cut at its end. Shorter prefixes are not distinctive. */
const MIN_CUT_LENGTH = 32;

/**
 * Returns true for an order id in a form that a service may store: other case, without leading
 * zeros, escaped, or cut.
 */
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

/** Kinds of characters and numbers that a service may store in another form. */
const KINDS: { test(id: string): boolean }[] = [
  ...[/[A-Z]/, /[a-z]/, /\./, /_/, /:/, /-/, /^0\d*(?:\.\d+)?$/, /^\d+$/, /^\d+\.\d+$/],
  // Numbers that a floating-point number changes: too long, or written otherwise.
  { test: (id) => /^\d+(?:\.\d*)?(?:e\d+)?$/i.test(id) && String(Number(id)) !== id },
];

/** Returns true if a service that keeps `shown` unchanged also keeps `orderId` unchanged. */
export const hasFormOf = (shown: string, orderId: string): boolean =>
  shown.length >= orderId.length && KINDS.every((kind) => kind.test(shown) || !kind.test(orderId));

export function parseOrderWorkflowId(workflowId: string): { account: string; orderId: string } | undefined {
  const match = /^order:([a-z0-9-]{1,32}):(.+)$/.exec(workflowId);
  return match?.[1] && match[2] ? { account: match[1], orderId: match[2] } : undefined;
}

export function parseReceivedWorkflowId(workflowId: string): { account: string; orderUuid: string } | undefined {
  const match = /^received:([a-z0-9-]{1,32}):([A-Za-z0-9_-]{1,64})$/.exec(workflowId);
  return match?.[1] && match[2] ? { account: match[1], orderUuid: match[2] } : undefined;
}

export function parseAfterEndWorkflowId(workflowId: string) {
  const ended = workflowId.startsWith(AFTER_END) ? workflowId.slice(AFTER_END.length) : '';
  const received = parseReceivedWorkflowId(ended);
  const about = parseOrderWorkflowId(ended) ?? (received && { account: received.account, orderId: received.orderUuid });
  return about && { ...about, ended, isReceived: received !== undefined };
}

/**
 * Returns a string literal of the visibility query language. The searched texts have no control
 * characters.
 */
export const quoted = (text: string): string =>
  `'${text
    .replace(/\p{Cc}/gu, '')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")}'`;

/** Returns a time (ms since the epoch) as a literal of a list query. */
export const quotedTime = (ms: number): string => quoted(new Date(ms).toISOString());

/** Returns the term for runs that ended after a time. Servers before 1.32 say so of open ones, too. */
export const endedAfterTerm = (ms: number): string =>
  `ExecutionStatus NOT IN ('Running') AND CloseTime > ${quotedTime(ms)}`;
