import * as z from 'zod';
import { batchState } from '../shapes/batch-schemas.js';
import { decision, decisionChoice, orderResult, orderState } from '../shapes/order-schemas.js';
import { shownOrder } from '../shapes/parts.js';

/* Bodies of answers for the OpenAPI document. No answer is checked or cut by them. */

const about = { orderId: z.string(), account: z.string() };
const failure = z.object({ code: z.string(), detail: z.string(), fields: z.array(z.unknown()).optional() });

/** State of an order. Its decisions lack the name, which the key gives. */
const state = orderState.extend({
  decisions: z.array(decisionChoice.extend({ decision: decision.omit({ by: true }).extend({ reason: z.string() }) })),
});

/** Answer to a start whose order exists. */
export const startedOrder = z.object({ ...about, attached: z.boolean(), order: shownOrder });

/** An order: its state while it is open, then its outcome and result, or its failure. */
export const orderBody = z.object({
  ...about,
  order: shownOrder.nullish(),
  state: state.omit({ order: true }).optional(),
  outcome: orderResult.shape.outcome.optional(),
  result: orderResult.omit({ outcome: true, order: true }).partial().optional(),
  failure: failure.optional(),
});

/** Answer to a decision. */
export const decidedOrder = z.object({ ...about, state });

/** A batch with its state. */
export const batchBody = z.object({ batchId: z.string(), account: z.string(), state: batchState.optional() });
