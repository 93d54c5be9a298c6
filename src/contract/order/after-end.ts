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

/** A text of `shownOf`, perhaps with balance changes. */
const SHOWN = /^(order \S+) (.*) \((amount_from .*?)\)(; .*)?$/s;

/**
 * Returns what the service shows now, as the difference from what was shown: its status, and each
 * amount that changed. Readings of different orders are shown in full.
 */
export function changeText(before: string, shown: string): { before: string; shown: string } {
  const [was, now] = [SHOWN.exec(before), SHOWN.exec(shown)];
  if (!was || !now || was[1] !== now[1]) return { before, shown };
  const factsIn = ([, , status, amounts = '']: RegExpExecArray) => [`status ${status}`, ...amounts.split(', ')];
  const old = factsIn(was);
  const changed = factsIn(now).flatMap((fact, index) => {
    const [name, ...value] = fact.split(' ');
    return fact === old[index] ? [] : [`${old[index] ?? `${name} none`} → ${value.join(' ')}`];
  });
  const brief = ([, order, status, , moved = '']: RegExpExecArray) => `${order} ${status}${moved}`;
  const what = changed.length > 0 ? `. Changed: ${changed.join(', ')}` : '';
  return { before: brief(was), shown: brief(now) + what };
}

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

/**
 * `before`: what was reported, and `was` the reading in it; `shown`: what the service shows now;
 * `reference`: the caller's.
 */
export type EndedReading = (
  | { kind: 'found'; order: Order }
  | ({ kind: 'duplicates' } & Pick<DuplicateOrders, 'orderUuids'>)
  | { kind: 'absent'; said?: string }
) & { before: string; was?: string; shown: string; changed: boolean; reference?: string };

/** 'open': the order runs again, and was signalled. */
export type LookUpEndedAnswer =
  | { kind: 'open' }
  | { kind: 'unchanged'; shown: string }
  | ElsewhereAnswer
  | (Circumstances & EndedReading);
