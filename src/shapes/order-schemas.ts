import * as z from 'zod';
import { ATTENTION_CODES } from '../contract/attention.js';
import { DECIDE_ACTIONS } from '../contract/order/messages.js';
import type { WalletDetails } from '../contract/order/request.js';
import { FOLLOW_UP_TYPES } from '../contract/order/types.js';
import { FINAL_STATUSES } from '../contract/service-objects.js';
import { addressCreateSchema } from '../payment-service/queries.js';
import { depositAddressSchema } from '../payment-service/schemas.js';
import { optionSchemas, orderUuid, receivedSchema } from '../validation/input-schemas.js';
import { cardPartSchema, detailsSchemas } from '../validation/request-schemas.js';
import { amount, count, onlyByCommand, ownText, shownOrder, signature, time } from './parts.js';

/* Results and messages of orders. The contract derives its types from them. */

const finalStatus = z.enum(FINAL_STATUSES);
const followUpType = z.enum(FOLLOW_UP_TYPES);
const currency = z.string();
const revertTo = optionSchemas.revertTo.unwrap();
const walletDetails: z.ZodType<WalletDetails> = z.union([...Object.values(detailsSchemas), z.array(cardPartSchema)]);

/** Part of an order that stayed on the balance: not exchanged, or not paid out. */
export const remainder = z.object({ kind: z.enum(['unexchanged', 'unpaid']), currency, amount });

/** Limit of an approval above a cap. */
const approvedAmount = { amount: amount.optional(), currency: currency.optional() };

/**
 * Argument of the `decide` update, with `revision` and `runId` of `orderState`. `kind`, `as`,
 * `revertTo` and `wallet_details`: how to `finish` or `revert`.
 */
export const decision = z.strictObject({
  /** Without `amount`, rates cannot estimate it. */
  ...approvedAmount,
  action: z.enum(DECIDE_ACTIONS),
  by: ownText,
  reason: ownText,
  revision: count,
  runId: z.string().optional(),
  order_uuid: orderUuid.optional(),
  /** Exactly the fields that differ of an adopted order. */
  differences: z.array(z.string()).min(1).optional(),
  kind: remainder.shape.kind.optional(),
  as: followUpType.optional(),
  revertTo: revertTo.optional(),
  wallet_details: walletDetails.optional(),
  /** Over all other fields; required by accounts of APPROVERS_FILE. */
  signature: signature.optional(),
});

/** Decision that is possible, and its effect. */
export const decisionChoice = z.object({
  does: z.string(),
  ...approvedAmount,
  needs: z.enum(['order_uuid', 'revertTo', 'wallet_details']).optional(),
  /** Why it must be read, and never decided together with others. */
  alone: z.string().optional(),
  /** Argument of the `decide` update. Its placeholders `by` and `reason` are refused. */
  decision: decision.extend({ by: z.string(), reason: z.string() }),
});

/** Decision in the result, with masked wallets. */
export const decisionRecord = decision.omit({ signature: true }).extend({
  /** Key that signed it. */
  keyId: z.string().optional(),
  at: time,
  revertTo: z.object({ network: z.string(), wallet: z.string() }).optional(),
  wallet_details: z.array(z.object({ amount, wallet: z.string() })).optional(),
});

/**
 * Why an operator should look, since when, and the possible decisions. Above a cap, `amount` and
 * `currency` are to be approved.
 */
export const attention = z.object({
  ...approvedAmount,
  code: z.enum(ATTENTION_CODES),
  reason: z.string(),
  since: time,
  allowed: z.array(z.enum(DECIDE_ACTIONS)),
});

/** Caller's own reference and metadata, as the start gave them. */
const callerMarks = { reference: optionSchemas.reference, metadata: optionSchemas.metadata };

/** Payment that a person decides on. Texts are masked, and unsafe ones are absent. */
const payment = z.object({
  /** Such as `12.50 usd`, or `100 usd → btc`. */
  moves: z.string().optional(),
  /** Last characters of the wallets, and the network: `****1111 (card)`. */
  payee: z.string().optional(),
  /** Remainder that a decision moves, such as `5 usd`. */
  left: z.string().optional(),
  description: z.string().optional(),
  reference: z.string().optional(),
  batchId: z.string().optional(),
  /** Caller's `metadata.startedBy`. */
  startedBy: z.string().optional(),
});

/** Answer of `orderState`. Only that of the query has what `ToKnow` names. */
export const orderState = z.object({
  ...callerMarks,
  /** Warning against a second payment, while the order needs attention. */
  never: z.string().optional(),
  /** Whether it was sent, in words. Absent for a receipt. */
  sent: z.string().optional(),
  payment: payment.optional(),
  /** Checks of the last attempt that were skipped, failed or only warn. */
  warnings: z.array(z.string()).optional(),
  toDo: z.string().optional(),
  /** Latest time of a send, and what to do later. */
  latestSend: z.string().optional(),
  /** Effect of a cancellation, while it can still end the order. */
  cancel: z.string().optional(),
  /** Decisions that were taken, the newest last. */
  decided: z.array(decisionRecord).optional(),
  /** 'parked' waits for an operator; 'done' is closed or about to close. */
  phase: z.enum(['creating', 'uncertain', 'following', 'compensating', 'parked', 'done']),
  /** Grows by 1 with every change of phase or attention. */
  revision: count,
  /** Temporal's run id. After a reset, another run may have the same revisions. */
  runId: z.string(),
  /** The service's last known status; null without a known order. */
  status: z.string().nullable(),
  order: shownOrder.nullable(),
  waitingFor: z.string(),
  attention: attention.optional(),
  /** It was cancelled after a send: it is followed, and moves no more money without a decision. */
  cancelRequested: z.literal(true).optional(),
  decisions: z.array(decisionChoice),
  onlyByCommand: onlyByCommand.optional(),
  lastLookupAt: time.nullable(),
});

/** Result of compensation. */
export const compensationResult = z.object({
  policy: optionSchemas.compensation.unwrap(),
  status: z.enum(['none', 'done', 'failed', 'not_possible']),
  reason: z.string().optional(),
  /** Id of the last follow-up. */
  order_id: z.string().optional(),
  outcome: finalStatus.optional(),
});

/** Result of an order's workflow, and of a receipt's. */
export const orderResult = z.object({
  ...callerMarks,
  outcome: finalStatus,
  order: shownOrder,
  /** The order was found by a look-up, not by our create. */
  adopted: z.boolean(),
  /** Actual − expected amounts, as signed decimal strings. */
  difference: z.object({ from: amount.optional(), to: amount.optional() }).optional(),
  remainder: z.array(remainder).optional(),
  remainderUnknown: z.string().optional(),
  compensation: compensationResult.optional(),
  /** Fields that the service shows in another form, or that an operator accepted. */
  echoDifferences: z.array(z.string()).optional(),
  /** Checks that were skipped or only reported at the send. */
  notes: z.array(z.string()).optional(),
  decisions: z.array(decisionRecord).optional(),
});

/** Result of `orderAfterEnd`, with which later look-ups compare. */
export const afterEndResult = z.object({
  /** Absent if the order's id ran again. */
  shown: z.string().optional(),
  /** An operator acknowledged a change. */
  changed: z.boolean(),
  order: shownOrder.optional(),
  decisions: z.array(decisionRecord).optional(),
});

/** Input of the `depositAddress` workflow. The caller's `ref` names the address for ever. */
export const depositAddressInput = z.strictObject({
  account: z.string().optional(),
  ref: receivedSchema.shape.ref,
  address: addressCreateSchema,
});

/** Result of the `depositAddress` workflow. */
export const depositAddressResult = z.object({
  address: depositAddressSchema,
  /** Found after an uncertain create. */
  adopted: z.boolean(),
  /** Uuids of younger addresses of the reference, also usable. */
  others: z.array(z.string()).optional(),
});

/** Argument of the `orderCallback` signal: a claim, which only wakes the workflow. */
export const callbackHint = z.object({ order_uuid: orderUuid.optional(), status: z.string().optional() });

/** Permanent deposit address to create, under your own `ref`. */
export type DepositAddressInput = z.output<typeof depositAddressInput>;
/** Part of an order that stayed on the balance. */
export type Remainder = z.output<typeof remainder>;
export type CallbackHint = z.output<typeof callbackHint>;
/** Facts that a person has to know to decide on an order. Every view shows each of them. */
export type ToKnow = Pick<OrderState, 'never' | 'sent' | 'payment' | 'warnings' | 'toDo' | 'latestSend' | 'cancel'>;
/** State of an order, with what may be decided on it. */
export type OrderState = z.output<typeof orderState>;
/** Why a person should look at an order, as a code and in words. */
export type Attention = z.output<typeof attention>;
/** Decision of a person on a parked order, on the `revision` that was shown. */
export type Decision = z.output<typeof decision>;
/** Decision that is possible now, and its effect. */
export type DecisionChoice = z.output<typeof decisionChoice>;
/** Decision that counted: who, when and why. */
export type DecisionRecord = z.output<typeof decisionRecord>;
/** Outcome of the compensation of what an order left. */
export type CompensationResult = z.output<typeof compensationResult>;
/** Result of an order: `outcome`, the order at the service, and what is left of it. */
export type OrderResult = z.output<typeof orderResult>;
/** Result of a look-up after the end of an order. */
export type AfterEndResult = z.output<typeof afterEndResult>;
