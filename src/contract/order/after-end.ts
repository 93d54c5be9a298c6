import { decimal, SIGNED_AMOUNT_FORMAT, toAmount } from '../money.js';
import type { Order } from '../service-objects.js';
import type { Circumstances, DuplicateOrders, ElsewhereAnswer } from './activities.js';

export type { AfterEndResult } from '../../shapes/order-schemas.js';

/** Input of the `orderAfterEnd` workflow; its id names the ended workflow. */
export interface AfterEndInput {
  /** The order's own run asks for a second look-up after this time. */
  againAfterMs?: number;
}

export const FINAL_AMOUNTS = ['amount_from', 'amount_to', 'amount_from_fee', 'amount_to_fee'] as const;
export const NO_ORDER = 'no order';

export function shownOf({ order_uuid: uuid, status, ...order }: Order): string {
  const amounts = FINAL_AMOUNTS.map((field) => `${field} ${amountShown(order[field])}`);
  return `order ${uuid} ${status.slice(0, 40)} (${amounts.join(', ')})`;
}

const amountShown = (amount: string | null): string =>
  amount !== null && SIGNED_AMOUNT_FORMAT.test(amount) ? toAmount(decimal(amount)) : 'none';

/** Asks what the service shows of an order, and what its workflow `ended` reported. */
export interface LookUpEndedInput {
  account: string;
  ended: string;
  /** Started by the order's own run, which ends soon. */
  byRun: boolean;
  /** Last change that an operator acknowledged in this run. Later readings are compared with it. */
  acknowledged?: string;
  /** The account that an operator confirmed. */
  sentTo?: Circumstances['sentTo'];
  told?: string;
  delayMs?: number;
}

/** `before`: what was reported; `shown`: what the service shows now; `reference`: the caller's. */
export type EndedReading = (
  | { kind: 'found'; order: Order }
  | ({ kind: 'duplicates' } & Pick<DuplicateOrders, 'orderUuids'>)
  | { kind: 'absent'; said?: string }
) & { before: string; shown: string; changed: boolean; reference?: string };

/** 'open': the order runs again, and was signalled. */
export type LookUpEndedAnswer =
  | { kind: 'open' }
  | { kind: 'unchanged'; shown: string }
  | ElsewhereAnswer
  | (Circumstances & EndedReading);
