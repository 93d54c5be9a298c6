import type { OrderResult } from '../../shapes/order-schemas.js';
import type { OptionShapes } from '../../validation/input-schemas.js';
import { type Amount, decimal, toAmount } from '../money.js';
import type { Order } from '../service-objects.js';
import type { Basis } from './basis.js';
import type { CreateRequests } from './request.js';
import type { SentTo } from './sent-to.js';
import type { Strictest } from './stricter.js';
import type { OrderType } from './types.js';

export type { CompensationResult, OrderResult } from '../../shapes/order-schemas.js';
export type { ReceivedDepositInput } from '../../validation/input-schemas.js';
export type { Remainder, RevertTarget } from './messages.js';
/** Policy for what an order leaves. */
export type CompensationPolicy = NonNullable<OptionShapes['compensation']>;

/** Options that only our own code sets. Starts from outside with one of them are refused. */
interface InternalOptions {
  /** State of an order and its follow-ups. This follow-up is sent only while that holds. */
  followUpOf?: Basis[];
  /**
   * The order list showed this order, which is only followed. `listed`: with which later starts are
   * compared; `sentTo`: where it was listed. Needs `compensation: 'report'`.
   */
  recovered?: { order_uuid: string; listed?: Order; sentTo?: SentTo };
  sentTo?: SentTo;
  /** Strictest limits of the order that this follow-up extends. */
  strictest?: Strictest;
  /** Person who decided on this follow-up, and counts as its starter. */
  decidedBy?: string;
  /** Beside `sentUntil`: that run's account is unknown, so only an operator may permit a re-send. */
  accountUnknown?: true;
  /** Why that run ended while it was held: the hold lasts until a person releases it. */
  held?: string;
}

export const INTERNAL_OPTIONS = [
  'followUpOf',
  'recovered',
  'sentTo',
  'strictest',
  'decidedBy',
  'accountUnknown',
  'held',
] as const satisfies readonly (keyof InternalOptions)[];

export interface RunOptions extends OptionShapes, InternalOptions {}

/** Input with which callers start one of the six order workflows. */
export interface OrderInput<T extends OrderType = OrderType> extends OptionShapes {
  order: CreateRequests[T];
}

export interface RunInput<T extends OrderType = OrderType> extends OrderInput<T>, InternalOptions {}

/** A completed order may differ from the request, for example an underpaid deposit. */
export function differenceOf(order: Order): OrderResult['difference'] {
  const between = (actual: Amount | null, expected: Amount) => {
    const difference = decimal(actual ?? expected).minus(decimal(expected));
    return difference.eq(0) ? undefined : toAmount(difference);
  };
  const from = between(order.amount_from, order.expected_amount_from);
  const to = between(order.amount_to, order.expected_amount_to);
  return from || to ? { ...(from && { from }), ...(to && { to }) } : undefined;
}

/** Returns why an order is not sent after its `latestSend`; undefined up to then. */
export const whyTooLate = (latestSend: string, nowMs: number): string | undefined =>
  nowMs > Date.parse(latestSend) ? `its latest send time ${latestSend} is over` : undefined;
