import type { Circumstances } from './answers.js';
import type { CompensationPolicy, CreateRequest, Order, RevertTarget } from './orders.js';
import { requestOfOrder } from './request-of-order.js';
import type { SentTo } from './sent-to.js';

/** Types of orders that a receipt on a permanent address makes: with exchange where the address has a `currency_to`. */
export const RECEIVED_TYPES = ['deposit', 'deposit_exchange'] as const;

/** One of the two types of received orders. */
export type ReceivedType = (typeof RECEIVED_TYPES)[number];

/** True for types that a receipt may have. */
export const isReceivedType = (type: string): type is ReceivedType =>
  (RECEIVED_TYPES as readonly string[]).includes(type);

/** Input of the `receivedDeposit` workflow: the order that came to be, and the reference of the address it must be on. */
export interface ReceivedDepositInput {
  account?: string;
  ref: string;
  order_uuid: string;
  compensation?: CompensationPolicy;
  revertTo?: RevertTarget;
}

/** One signed look-up of a received order. `input`: the whole workflow input, validated inside. */
export interface LookUpReceivedInput {
  account: string;
  input: unknown;
  /** What showed the order first; an answer from another endpoint is no reading. */
  sentTo?: SentTo;
}

/**
 * What one look-up of a received order read. 'foreign': it exists and is no receipt on this address. 'unplaced': it exists,
 * and one of the two addresses is not shown, so that they cannot be compared.
 */
export type ReceivedReading =
  | { kind: 'found'; type: ReceivedType; order: Order }
  | { kind: 'foreign' | 'unplaced'; reason: string }
  /** `said`: how the status operation shows no order, for people. */
  | { kind: 'absent'; said: string };

/** Answer of the look-up of a received order. */
export type LookUpReceivedAnswer = Circumstances & ReceivedReading;

/** What a received order would have been asked for. Nobody named it, so its name is the service's own. */
export const receivedRequest = (type: ReceivedType, order: Order): CreateRequest => ({
  ...requestOfOrder(type, order),
  order_id: order.order_uuid,
});
