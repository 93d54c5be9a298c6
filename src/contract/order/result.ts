import type { Amount } from '../money.js';
import type { CompensationPolicy } from './input.js';
import type { DecisionRecord } from './messages.js';
import type { FinalStatus, Order } from './order.js';

/** Part of an order that stayed on the merchant's balance: not exchanged (in currency_from) or not paid out (in currency_to). */
export interface Remainder {
  kind: 'unexchanged' | 'unpaid';
  currency: string;
  amount: Amount;
}

/** What was done about a remainder. `reason` and `order_id` (of the last follow-up) say how. */
export interface CompensationResult {
  policy: CompensationPolicy;
  status: 'none' | 'done' | 'failed' | 'not_possible';
  reason?: string;
  order_id?: string;
  outcome?: FinalStatus;
}

/** Result of an order workflow: resolves for every order that exists at the service. */
export interface OrderResult {
  outcome: FinalStatus;
  order: Order;
  /** True when the order was found at the service instead of being answered to our create. */
  adopted: boolean;
  /** Actual − expected amounts, where they differ. Signed decimal strings. */
  difference?: { from?: Amount; to?: Amount };
  remainder?: Remainder[];
  /** Why the remainder cannot be told. */
  remainderUnknown?: string;
  compensation?: CompensationResult;
  /** Fields of the request that the service shows otherwise: in another form, or named by a person who adopted it. */
  echoDifferences?: string[];
  /** Checks that were skipped, or broken and only told (PAYMENT_FORMAT_CHECKS), when the order was sent. */
  notes?: string[];
  /** Every decision a person made, oldest first. */
  decisions?: DecisionRecord[];
}
