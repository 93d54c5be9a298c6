import type { OptionShapes, ReceivedShape } from '../../validation/order-input.js';
import type { Amount } from '../money.js';
import type { FinalStatus, Order } from '../service-objects.js';
import type { Basis } from './basis.js';
import type { DecisionRecord } from './messages.js';
import type { CreateRequests } from './request.js';
import type { SentTo } from './sent-to.js';
import type { OrderType } from './types.js';

/** What is wanted when an order ends partially or in error; omitted = the default column of the table in docs. */
export type CompensationPolicy = NonNullable<OptionShapes['compensation']>;

/** Where a refund may go. Nothing is ever refunded to `wallet_from`. */
export type RevertTarget = NonNullable<OptionShapes['revertTo']>;

/** Options of an order that only our own code sets. Starts from outside that name one are refused. */
interface InternalOptions {
  /** Of a follow-up: what its order and the follow-ups before it showed. It is sent only while that holds. */
  followUpOf?: Basis[];
  /**
   * The run was recovered from the service's order list: it never sends and only follows that order. Needs
   * `compensation: 'report'`; where a payout goes may be missing in `order`. `listed`: the order as the list showed it,
   * which later starts of the id are compared with. `sentTo`: where it was listed.
   */
  recovered?: { order_uuid: string; listed?: Order; sentTo?: SentTo };
  /** The only place this order may be sent to: where the order it follows up or, with `sentUntil`, the earlier run sent. */
  sentTo?: SentTo;
  /** Beside `sentUntil`: where that run sent is unknown, so only a person may have it sent again. */
  accountUnknown?: true;
}

/** Names of the internal options. */
export const INTERNAL_OPTIONS = [
  'followUpOf',
  'recovered',
  'sentTo',
  'accountUnknown',
] as const satisfies readonly (keyof InternalOptions)[];

/** Options of an order workflow beside its order. */
export interface RunOptions extends OptionShapes, InternalOptions {}

/** Input with which callers start one of the six order workflows. */
export interface OrderInput<T extends OrderType = OrderType> extends OptionShapes {
  order: CreateRequests[T];
}

/** Input of a run, as its history holds it: what the caller gave, and what our own code added. */
export interface RunInput<T extends OrderType = OrderType> extends OrderInput<T>, InternalOptions {}

/** Input of the `receivedDeposit` workflow: the order that came to be, and the reference of the address it must be on. */
export type ReceivedDepositInput = ReceivedShape;

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
  /** Checks that were skipped, or broken and only reported (`formatChecks`), when the order was sent. */
  notes?: string[];
  /** Every decision a person made, oldest first. */
  decisions?: DecisionRecord[];
}
