import * as z from 'zod';
import { ATTENTION_CODES } from '../contract/attention.js';
import { ORDER_TYPES } from '../contract/order/types.js';
import { batchState } from '../shapes/batch-schemas.js';
import { eventData, outgoingEvent } from '../shapes/event-schemas.js';
import { decision, decisionChoice, orderResult, orderState } from '../shapes/order-schemas.js';
import { count, shownOrder, time } from '../shapes/parts.js';
import { shownAddresses } from '../shapes/read-schemas.js';
import { batchSchema } from '../validation/input-schemas.js';

/* Bodies of answers for the OpenAPI document. No answer is checked or cut by them. */

const about = { orderId: z.string(), account: z.string() };
const cursor = z.string().optional();
const failure = z.object({ code: z.string(), detail: z.string(), fields: z.array(z.unknown()).optional() });

/** State of an order. Its decisions lack the name, which the key gives. */
const state = orderState.extend({
  decisions: z.array(decisionChoice.extend({ decision: decision.omit({ by: true }).extend({ reason: z.string() }) })),
});

/** Answer to a start whose order exists. */
export const startedOrder = z.object({ ...about, attached: z.boolean(), order: shownOrder });

const listedAttention = z.object({ code: z.enum(ATTENTION_CODES), since: time, moves: z.string().optional() });

/** An order as Temporal lists it. */
export const listedOrder = z.object({
  ...about,
  workflowId: z.string(),
  runId: z.string(),
  received: z.boolean(),
  afterEnd: z.literal(true).optional(),
  type: z.enum(ORDER_TYPES).optional(),
  status: z.string().optional(),
  needsAttention: z.boolean(),
  attention: listedAttention.optional(),
  currencyFrom: z.string().optional(),
  currencyTo: z.string().optional(),
  orderUuid: z.string().optional(),
  batchId: z.string().optional(),
  reference: z.string().optional(),
  startedAt: time,
  closedAt: time.optional(),
});

/** Answer to a start that is not decided yet. */
export const waitingOrder = listedOrder.extend({ attached: z.boolean() });

/** One page of orders. */
export const orderPage = z.object({ orders: z.array(listedOrder), cursor });

/** Answer to a cancellation. */
export const cancelledOrder = z.object({ ...about, cancelRequested: z.literal(true) });

/** Ended orders of the feed. */
export const eventPage = z.object({
  events: z.array(outgoingEvent.extend({ data: eventData.omit({ sequence: true, metadata: true }) })),
  cursor: z.string(),
});

/** An order: its state while it is open, then its outcome and result, or its failure. */
export const orderBody = listedOrder.extend({
  order: shownOrder.nullish(),
  state: state.omit({ order: true }).optional(),
  outcome: orderResult.shape.outcome.optional(),
  result: orderResult.omit({ outcome: true, order: true }).partial().optional(),
  failure: failure.optional(),
  /** Question about a change after its end: what is shown of it may no longer hold. */
  attentionAfterEnd: listedAttention.optional(),
});

/** Answer to a decision. */
export const decidedOrder = z.object({ ...about, state });

/** A batch with its state. */
export const batchBody = z.object({ batchId: z.string(), account: z.string(), state: batchState.optional() });

/** Answer to the start of a batch. */
export const startedBatch = z.object({ batchId: z.string(), account: z.string(), attached: z.boolean() });

/** One page of a batch's rows. */
export const batchRowPage = z.object({
  rows: z.array(
    z.object({
      row: count,
      orderId: z.string().optional(),
      reference: z.string().optional(),
      state: z.string(),
      needsAttention: z.boolean(),
      batchId: z.string().optional(),
      closedAt: time.optional(),
    }),
  ),
  cursor,
});

/** State of an upload. */
export const uploadState = z.object({ missing: z.array(count), file: batchSchema.shape.file });

/** One page of permanent addresses. */
export const addressPage = z.object({ addresses: shownAddresses });

const stop = z.object({ by: z.string(), reason: z.string(), at: z.string(), keyId: z.string().optional() });

/** An account, with its stop if it is stopped. */
export const accountState = z.object({ account: z.string(), runId: z.string().optional(), stop: stop.optional() });

/** Stopped accounts. */
export const stoppedAccounts = z.object({ stopped: z.array(stop.extend({ account: z.string() })) });
