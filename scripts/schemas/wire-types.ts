import * as z from 'zod';
import { batchFilesInput } from '../../src/activities/batch/batch-files.js';
import { BATCH_MESSAGES, MAX_INLINE_ROWS } from '../../src/contract/batch/batch.js';
import { EVENT_KINDS, type EventKind } from '../../src/contract/events.js';
import {
  ACCOUNT_STOP_WORKFLOW,
  ASK_POLICY_UPDATE,
  BATCH_FILES_WORKFLOW,
  BEGIN_UPDATE,
  BULK_WITHDRAW_WORKFLOW,
  CANARY_WORKFLOW,
  CREATED_UPDATE,
  DECIDE_UPDATE,
  DELIVER_EVENTS_WORKFLOW,
  DEPOSIT_ADDRESS_WORKFLOW,
  EVENTS_SIGNAL,
  FINAL_UPDATE,
  FUNDS_LINE_WORKFLOW,
  FUNDS_SIGNAL,
  GO_FIRST_SIGNAL,
  HOLD_UPDATE,
  JOIN_LINE_SIGNAL,
  LEAVE_LINE_SIGNAL,
  ORDER_AFTER_END_WORKFLOW,
  ORDER_CALLBACK_SIGNAL,
  ORDER_STATE_QUERY,
  POLICY_WORKFLOW,
  RECEIVED_DEPOSIT_WORKFLOW,
  RECONCILE_WORKFLOW,
  RESUME_ACCOUNT_UPDATE,
  SCHEDULED_BATCH_WORKFLOW,
  SEND_EVENTS_SIGNAL,
  SERVICE_READ_WORKFLOW,
  STOP_ACCOUNT_UPDATE,
} from '../../src/contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../src/contract/order/types.js';
import { READS } from '../../src/contract/service-objects.js';
import { addressListSchema, orderListSchema, orderStatusSchema } from '../../src/payment-service/queries.js';
import { batchApproval, batchInstruction, batchPlan, batchResult, batchState } from '../../src/shapes/batch-schemas.js';
import { outgoingEvent } from '../../src/shapes/event-schemas.js';
import {
  afterEndResult,
  callbackHint,
  decision,
  depositAddressInput,
  depositAddressResult,
  orderResult,
  orderState,
} from '../../src/shapes/order-schemas.js';
import { shownOrder, time } from '../../src/shapes/parts.js';
import {
  fieldErrors,
  orderFindings,
  orMalformed,
  shownAddresses,
  shownBalances,
  shownRates,
} from '../../src/shapes/read-schemas.js';
import { reconcileInput, reconcileResult } from '../../src/shapes/reconcile-schemas.js';
import { batchSchema, optionSchemas, receivedSchema, scheduledSchema } from '../../src/validation/input-schemas.js';
import { orderSchemas } from '../../src/validation/request-schemas.js';
import { batchRules, decisionRules, orderRules, receivedRules, requestRules, scheduledRules } from './input-rules.js';
import type { JsonSchema, WireType } from './json-schema.js';

/** Fields that an event of a kind has besides those of every event. */
const EVENT_FIELDS = (kind: EventKind): string[] => {
  if (kind === 'test') return [];
  if (kind.startsWith('batch.')) return ['batch_id', 'rows'];
  return kind === 'order.needs_attention' || kind === 'order.attention_over' ? ['order_type', 'code'] : ['order_type'];
};

/** Body of the POST of one kind: the id stands in the header `webhook-id`. */
const eventOf = (kind: EventKind): WireType => {
  const { timestamp, data } = outgoingEvent.shape;
  return {
    direction: 'out',
    description: `Body of the signed POST of an event ${kind}. Fields may be added.`,
    schema: z.object({ type: z.literal(kind), timestamp, data }),
    rules: { allOf: [{ properties: { data: { required: EVENT_FIELDS(kind) } } }] },
  };
};

const incoming = (schema: z.ZodType, description: string, rules?: JsonSchema): WireType => ({
  direction: 'in',
  description,
  schema,
  ...(rules && { rules }),
});

const outgoing = (schema: z.ZodType, description: string): WireType => ({ direction: 'out', description, schema });

const orderInput = (type: (typeof ORDER_TYPES)[number]): WireType =>
  incoming(
    z.strictObject({ ...optionSchemas, order: orderSchemas[type] }),
    `Input of the workflow ${workflowTypeOf(type)}: the create request of an order of type ${type}, and options. null means absent.`,
    orderRules(type),
  );

const row = orderSchemas.withdraw.extend({ reference: optionSchemas.reference }).meta(requestRules('withdraw'));
const count = z.int().min(0);

const readInput = z.strictObject({
  account: optionSchemas.account,
  read: z.enum(READS),
  query: z
    .union([
      orderStatusSchema,
      orderListSchema,
      addressListSchema,
      z.strictObject({ order_type: z.string().optional(), pair: z.string().optional() }),
      z.strictObject({ order_type: z.enum(ORDER_TYPES), input: z.looseObject({}) }),
    ])
    .optional(),
});

/** Place of an order in the line of those that wait for funds. */
const place = z.object({
  workflowId: z.string(),
  startedAtMs: z.number(),
  amount: z.string(),
  currency: z.string(),
  overtakes: z.literal(true).optional(),
  isFunded: z.literal(true).optional(),
  leftAtMs: z.number().optional(),
  isTold: z.literal(true).optional(),
});

/** Every published schema by its name, which is the file's name without `.json`. */
export const WIRE_TYPES: Readonly<Record<string, WireType>> = {
  ...Object.fromEntries(ORDER_TYPES.map((type) => [`order-input.${type}`, orderInput(type)])),
  'received-deposit-input': incoming(
    receivedSchema,
    'Input of the workflow that follows a receipt on a permanent address.',
    receivedRules,
  ),
  'batch-input': incoming(
    batchSchema.extend({ rows: z.array(row).min(1).max(MAX_INLINE_ROWS).optional() }),
    'Input of a batch of payouts: a file below BATCH_DIR of the workers, or rows. null means absent.',
    batchRules,
  ),
  'scheduled-batch-input': incoming(
    scheduledSchema,
    'Input of a scheduled batch, which a Temporal schedule starts.',
    scheduledRules,
  ),
  'reconcile-input': incoming(
    reconcileInput,
    'Input of a reconciliation: orders created between from and to (UTC without a zone); the last 72 h if omitted.',
  ),
  'address-input': incoming(
    depositAddressInput,
    'Input of a permanent deposit address. The ref of the caller names it for ever.',
  ),
  'service-read-input': incoming(
    readInput,
    'Input of a signed read: what is read, and the request body of the service.',
  ),
  'batch-files-input': incoming(
    batchFilesInput,
    'Question about batch files. The bytes of a part are a second argument, compressed by gzip.',
  ),
  'after-end-input': incoming(
    z.strictObject({ againAfterMs: z.int().min(0).optional() }),
    'Input of the look-ups after the end of an order. The workflow id names the ended workflow.',
  ),
  'account-stop-input': incoming(
    z.strictObject({ account: optionSchemas.account }),
    'Input of the workflow that stops an account. It stops from its update stopAccount until resumeAccount.',
  ),
  'order-type': incoming(z.enum(ORDER_TYPES), 'Type of an order in the words of the service.'),
  decision: incoming(
    decision,
    'Argument of the update decide: one of the decisions that the state shows, with its revision.',
    decisionRules,
  ),
  'batch-approval': incoming(
    batchApproval,
    'Argument of the update approve: the digest of the plan. The starter cannot approve.',
  ),
  'batch-instruction': incoming(batchInstruction, 'Argument of the updates pause, resume and stop.'),
  'callback-hint': outgoing(
    callbackHint,
    'Argument of the signal orderCallback: a claim, which only wakes the workflow.',
  ),
  'delivery-input': outgoing(
    z.object({
      receivers: z.array(z.object({ name: z.string(), kinds: z.array(z.enum(EVENT_KINDS)).optional() })),
      events: z.array(outgoingEvent),
    }),
    'Input and signal of a delivery of events. Only workflows of this package send it.',
  ),
  'funds-line-input': outgoing(
    z.object({ account: z.string(), places: z.array(place) }),
    'Input of the line of orders that wait for funds. Only workflows of this package start it.',
  ),
  'funds-place': outgoing(place, 'Signal join: an order that waits for funds, with what it takes from the balance.'),
  'funds-left': outgoing(z.string(), 'Signal leave: id of the workflow that waits no more.'),
  'funds-news': outgoing(
    z.object({
      missing: z.string().optional(),
      available: z.string().nullable().optional(),
      before: z.int().optional(),
    }),
    'Signal funds: what an order that waits for funds lacks. Without `missing`, it has them.',
  ),
  'canary-input': outgoing(
    z.object({
      account: z.string(),
      orderId: z.string(),
      currency: z.string(),
      network: z.string(),
      amount: z.string(),
      windowMs: z.int(),
    }),
    'Input of the workflow that sends one canary. Only workers start it.',
  ),
  'policy-input': outgoing(
    z.object({ account: z.string(), ledger: z.looseObject({}).optional() }),
    'Input of the workflow that keeps the sums of the policy. Only workers start it.',
  ),
  'policy-questions': outgoing(
    z.array(
      z.object({
        orderId: z.string(),
        spends: z.array(z.tuple([z.string(), z.string()])),
        limits: z.array(
          z.union([
            z.object({ key: z.string(), windowMs: z.int(), max: z.string() }),
            z.object({ paid: z.string() }),
            z.object({ same: z.array(z.string()), windowMs: z.int() }),
          ]),
        ),
        reserve: z.boolean(),
      }),
    ),
    'Argument of the update ask: orders with their limits. Only workers send it.',
  ),
  'policy-reading': outgoing(
    z.array(z.string()),
    'Second argument of the update ask: digests of account and key. Sums that were read by others are read again.',
  ),
  'policy-answers': outgoing(
    z.array(
      z.array(
        z.object({
          index: z.int(),
          total: z.string().optional(),
          made: z.array(z.tuple([z.string(), z.string(), z.int()])).optional(),
          lostUntilMs: z.int().optional(),
        }),
      ),
    ),
    'Answer of the update ask: the exceeded limits of each order, by their index.',
  ),
  order: outgoing(shownOrder, 'An order of the service: answer of the updates created and final.'),
  'order-state': outgoing(
    orderState,
    'State of an order: answer of the query orderState and of the updates begin and decide.',
  ),
  'order-differences': outgoing(
    z.array(z.string()),
    'Answer of the query begin: fields in which an input differs from that of the order. Empty: the same order.',
  ),
  'order-result': outgoing(orderResult, 'Result of an order, and of a receipt.'),
  'after-end-result': outgoing(afterEndResult, 'Result of the look-ups after the end of an order.'),
  'batch-state': outgoing(batchState, 'State of a batch: answer of the query batchState.'),
  'batch-plan': outgoing(batchPlan, 'What a batch would do. The digest covers all other fields.'),
  'batch-result': outgoing(batchResult, 'Result of a batch. If only a plan was asked for, nothing was started.'),
  'reconcile-result': outgoing(
    reconcileResult,
    'Result of a reconciliation. Its lists are limited; the counts are complete.',
  ),
  'account-stop': outgoing(
    z.object({ by: z.string(), reason: z.string(), at: time }).nullable(),
    'Result of the workflow that stops an account: the stop that ended, null if there was none.',
  ),
  'address-result': outgoing(depositAddressResult, 'Result of the workflow of a permanent deposit address.'),
  'service-read-result': outgoing(
    z.union([shownOrder, z.array(orMalformed(shownOrder)), shownAddresses, shownRates, shownBalances, orderFindings]),
    'Result of a signed read: an order, a list of orders or addresses, rates by order type, balances by currency, or the findings of a dry run. Unreadable entries are {malformed}.',
  ),
  'batch-files-result': outgoing(
    z.union([
      z.object({ missing: z.array(count), file: batchSchema.shape.file }),
      z.array(z.object({ row: count, orderId: z.string().optional(), reference: z.string().optional() })),
    ]),
    'State of an upload, or rows of a batch. A piece of a report is bytes, compressed by gzip.',
  ),
  'field-errors': outgoing(
    fieldErrors,
    'Details of the failures InvalidOrder and InvalidInput: every bad field with a masked reason.',
  ),
  ...Object.fromEntries(EVENT_KINDS.map((kind) => [`event.${kind}`, eventOf(kind)])),
};

/** Names of the schemas of a message: its arguments, and its answer if it has one. */
interface Message {
  arguments: string[];
  answer?: string;
}

/** Names of the schemas of a workflow and its messages. */
export interface WorkflowTypes {
  input?: string;
  result?: string;
  updates?: Record<string, Message>;
  queries?: Record<string, Message>;
  signals?: Record<string, Message>;
}

const ofOrder: WorkflowTypes = {
  updates: {
    [CREATED_UPDATE]: { arguments: [], answer: 'order' },
    [FINAL_UPDATE]: { arguments: [], answer: 'order' },
    [DECIDE_UPDATE]: { arguments: ['decision'], answer: 'order-state' },
  },
  queries: { [ORDER_STATE_QUERY]: { arguments: [], answer: 'order-state' } },
  signals: { [ORDER_CALLBACK_SIGNAL]: { arguments: ['callback-hint'] } },
};

const orderWorkflow = (type: (typeof ORDER_TYPES)[number]): WorkflowTypes => {
  const input = `order-input.${type}`;
  const begin = ['order-type', input];
  return {
    input,
    result: 'order-result',
    updates: {
      [BEGIN_UPDATE]: { arguments: begin, answer: 'order-state' },
      [HOLD_UPDATE]: { arguments: ['batch-instruction'], answer: 'order-state' },
      ...ofOrder.updates,
    },
    queries: { [BEGIN_UPDATE]: { arguments: begin, answer: 'order-differences' }, ...ofOrder.queries },
    signals: { ...ofOrder.signals, [FUNDS_SIGNAL]: { arguments: ['funds-news'] } },
  };
};

const instruction: Message = { arguments: ['batch-instruction'] };

/** Schemas by workflow type: `dist/schemas/index.json`. */
export const WORKFLOWS: Readonly<Record<string, WorkflowTypes>> = {
  ...Object.fromEntries(ORDER_TYPES.map((type) => [workflowTypeOf(type), orderWorkflow(type)])),
  [RECEIVED_DEPOSIT_WORKFLOW]: { input: 'received-deposit-input', result: 'order-result', ...ofOrder },
  [ORDER_AFTER_END_WORKFLOW]: { input: 'after-end-input', result: 'after-end-result', ...ofOrder },
  [BULK_WITHDRAW_WORKFLOW]: {
    input: 'batch-input',
    result: 'batch-result',
    updates: {
      [BATCH_MESSAGES.approve]: { arguments: ['batch-approval'] },
      [BATCH_MESSAGES.pause]: instruction,
      [BATCH_MESSAGES.resume]: instruction,
      [BATCH_MESSAGES.stop]: instruction,
    },
    queries: { [BATCH_MESSAGES.state]: { arguments: [], answer: 'batch-state' } },
  },
  [ACCOUNT_STOP_WORKFLOW]: {
    input: 'account-stop-input',
    result: 'account-stop',
    updates: { [STOP_ACCOUNT_UPDATE]: instruction, [RESUME_ACCOUNT_UPDATE]: instruction },
  },
  [CANARY_WORKFLOW]: { input: 'canary-input' },
  [POLICY_WORKFLOW]: {
    input: 'policy-input',
    updates: { [ASK_POLICY_UPDATE]: { arguments: ['policy-questions', 'policy-reading'], answer: 'policy-answers' } },
  },
  [SCHEDULED_BATCH_WORKFLOW]: { input: 'scheduled-batch-input', result: 'batch-result' },
  [RECONCILE_WORKFLOW]: { input: 'reconcile-input', result: 'reconcile-result' },
  [DEPOSIT_ADDRESS_WORKFLOW]: { input: 'address-input', result: 'address-result' },
  [SERVICE_READ_WORKFLOW]: { input: 'service-read-input', result: 'service-read-result' },
  [BATCH_FILES_WORKFLOW]: { input: 'batch-files-input', result: 'batch-files-result' },
  [DELIVER_EVENTS_WORKFLOW]: {
    input: 'delivery-input',
    signals: { [EVENTS_SIGNAL]: { arguments: ['delivery-input'] }, [SEND_EVENTS_SIGNAL]: { arguments: [] } },
  },
  [FUNDS_LINE_WORKFLOW]: {
    input: 'funds-line-input',
    signals: {
      [JOIN_LINE_SIGNAL]: { arguments: ['funds-place'] },
      [LEAVE_LINE_SIGNAL]: { arguments: ['funds-left'] },
      [GO_FIRST_SIGNAL]: { arguments: [] },
    },
  },
};
