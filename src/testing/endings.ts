import type { OrderAttention } from '../contract/attention.js';
import type { FieldError, ORDER_UNRESOLVED, OrderFailure } from '../contract/failures.js';
import type { Remainder } from '../contract/order/input-and-result.js';
import type { Attention } from '../contract/order/messages.js';
import type { FinalStatus, Order } from '../contract/service-objects.js';

/** Decisions about an order that was not created. */
export const QUESTIONS = {
  'uncertain-create': ['resend', 'close-absent', 'adopt'],
  'not-sent': ['resend', 'close-absent'],
  'over-cap': ['approve', 'refuse'],
  conflict: ['adopt', 'close-absent'],
} as const satisfies Partial<Record<OrderAttention, Attention['allowed']>>;

/** Questions about a create that was sent. */
export const isDoubt = (code: string | undefined): boolean => code === 'uncertain-create' || code === 'conflict';

/** How an order of the double ends. */
export type TestEnding =
  /**
   * It exists and is final; `order` replaces fields of it. Its policy handles the remainder: the
   * order may wait for a decision, and every follow-up completes.
   */
  | { outcome: Exclude<FinalStatus, 'completed_partially'>; remainder?: Remainder[]; order?: Partial<Order> }
  | { outcome: 'completed_partially'; remainder: Remainder[]; order?: Partial<Order> }
  /** No order exists. */
  | { failure: OrderFailure | typeof ORDER_UNRESOLVED; reason?: string; fields?: FieldError[] }
  /** It waits for a decision. `next`: how it ends after one that sends or adopts it. */
  | { parked: keyof typeof QUESTIONS; reason?: string; next?: TestEnding }
  /** It exists and is not final. */
  | 'open';
