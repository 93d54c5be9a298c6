import type Big from 'big.js';
import type { OrderFailure } from '../../contract/failures.js';
import { decimal, decimalOrZero, sameAmount, sum, toAmount } from '../../contract/money.js';
import { FINAL_AMOUNTS } from '../../contract/order/after-end.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import { factsOf, isOrderType } from '../../contract/order/types.js';
import type { ReconcileDay } from '../../contract/reconcile/days.js';
import { dateTimeMs } from '../../contract/reconcile/input.js';
import type { ReconcileClass } from '../../contract/reconcile/reconcile.js';
import { type FinalStatus, isFinal, type Order, type OrderListItem } from '../../contract/service-objects.js';

type Amounts = Pick<Order, (typeof FINAL_AMOUNTS)[number]>;

/**
 * State of a running workflow. `known`: its final order. `undecided`: it waits for a person;
 * `looksAgain`: a wake may show more. `unfound`: a receipt, perhaps forged.
 */
export interface Known {
  orderUuid?: string;
  known?: OurEnd;
  undecided?: { looksAgain: boolean };
  unfound?: true;
  stuck?: true;
}

export type OurWord =
  | ({ kind: 'running'; startedAtMs: number } & Known)
  | { kind: 'ended'; end: OurEnd }
  | { kind: 'noOrder'; failure: OrderFailure }
  /** The run ended silently: terminated, timed out, or cancelled from outside. */
  | { kind: 'unresolved'; how: string };

/** Final order as a workflow saw it. `nothingLeft`: nothing of it is on the balance. */
export interface OurEnd {
  outcome: FinalStatus;
  orderUuid: string;
  amounts: Amounts;
  nothingLeft: boolean;
}

/** Result of a comparison. `wake`: our workflow must look again. */
export interface Comparison {
  class: ReconcileClass;
  detail?: string;
  wake?: true;
}

export const ourEndOf = ({ outcome, order, ...left }: OrderResult): OurEnd => ({
  outcome,
  orderUuid: order.order_uuid,
  amounts: order,
  nothingLeft: !left.remainder && !left.remainderUnknown && !left.decisions,
});

export function compare(
  theirs: OrderListItem,
  ours: OurWord,
  { atMs, openTooLongMs }: Pick<ReconcileDay, 'atMs' | 'openTooLongMs'>,
): Comparison {
  switch (ours.kind) {
    case 'ended':
      return compareEnds(theirs, ours.end);
    case 'running':
      if (ours.stuck) return STUCK;
      if (ours.known) return compareEnds(theirs, ours.known);
      if (!isFinal(theirs.status)) return compareAge(atMs - ours.startedAtMs - delayOf(theirs), openTooLongMs);
      // The order may be ours or not, so it must not count as repaired.
      if (ours.undecided?.looksAgain === false) return { class: 'undecided', detail: WAITS };
      if (ours.undecided) return { class: 'undecided', detail: `${WAITS}; it was told to look once more`, wake: true };
      return { class: 'woken', detail: 'our workflow still waited', wake: true };
    case 'noOrder':
      // The failure already reports another payment's order under our id.
      if (ours.failure === 'OrderConflict') return { class: 'foreign', detail: 'our workflow ended as OrderConflict' };
      return { class: 'verdictDiffers', detail: `our workflow ended as ${ours.failure}, and the order exists` };
    case 'unresolved':
      return { class: 'unresolved', detail: `our workflow was ${ours.how}; nobody follows the order` };
  }
}

/** Reports an order that is not final after the limit. */
export function compareAge(ageMs: number, openTooLongMs: number): Comparison {
  if (ageMs <= openTooLongMs) return { class: 'open' };
  const minutes = Math.floor(ageMs / 60_000);
  return {
    class: 'openTooLong',
    detail: `not final after ${minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`}`,
  };
}

export const STUCK: Comparison = { class: 'stuck', detail: 'the workflow task of our workflow keeps failing' };

const WAITS = 'our workflow waits for a decision';

/** Returns the requested delay. Both times have the service's unknown time zone. */
function delayOf({ created_at, start_order_at }: OrderListItem): number {
  const [createdMs, startsMs] = [dateTimeMs(created_at), dateTimeMs(start_order_at ?? '')];
  return createdMs === undefined || startsMs === undefined ? 0 : Math.max(0, startsMs - createdMs);
}

function compareEnds(theirs: OrderListItem, ours: OurEnd): Comparison {
  if (theirs.order_uuid !== ours.orderUuid) {
    return { class: 'duplicate', detail: `our order is ${ours.orderUuid}; this is another one under its id` };
  }
  if (theirs.status !== ours.outcome) return { class: 'verdictDiffers' };
  const differing = FINAL_AMOUNTS.filter((field) => !sameAmount(theirs[field], ours.amounts[field]));
  if (differing.length > 0)
    return { class: 'amountDiffers', detail: differing.map(shownBoth(theirs, ours)).join(', ') };
  const uneven = unevenChanges(theirs, ours.nothingLeft);
  return uneven ? { class: 'amountDiffers', detail: uneven } : { class: 'equal' };
}

const shownBoth = (theirs: OrderListItem, ours: OurEnd) => (field: keyof Amounts) =>
  `${field} ${theirs[field] ?? 'none'} at the service, ${ours.amounts[field] ?? 'none'} here`;

/**
 * Finds balance changes that do not fit: a rest of a completed order, or money of an order without
 * any.
 */
export function unevenChanges(theirs: OrderListItem, nothingLeft: boolean): string | undefined {
  if (theirs.balance_changes.length === 0) return undefined;
  const { currency_from: from, currency_to: to } = theirs;
  const uneven = [...new Set([from, to])].flatMap((currency) => {
    const net = netOf(theirs, currency);
    const fits = expectedNets(theirs, currency).some((expected) => expected.eq(net));
    return fits ? [] : [`${toAmount(net)} ${currency}`];
  });
  if (uneven.length === 0) return undefined;
  if (theirs.status === 'completed') return `completed, but its balance changes are ${uneven.join(', ')}`;
  const late = (theirs.status === 'canceled' || theirs.status === 'error') && nothingLeft;
  return late
    ? `ended ${theirs.status}, which should move nothing, but its balance changes are ${uneven.join(', ')}`
    : undefined;
}

const netOf = ({ balance_changes: changes }: OrderListItem, currency: string): Big =>
  sum(changes.filter((change) => change.currency === currency).map((change) => decimal(change.amount_change)));

/** Returns the possible sums in a currency if nothing is left. Either side may pay a commission. */
function expectedNets(order: OrderListItem, currency: string): Big[] {
  const zero = decimal('0');
  const [paid, got] = [decimalOrZero(order.amount_from), decimalOrZero(order.amount_to)];
  const [feeFrom, feeTo] = [decimalOrZero(order.amount_from_fee), decimalOrZero(order.amount_to_fee)];
  const isFrom = currency === order.currency_from;
  if (order.status !== 'completed') return [zero];
  if (!isOrderType(order.order_type)) return [netOf(order, currency)];
  const { startsWithDeposit, exchanges, paysOut } = factsOf(order.order_type);
  if (!exchanges) return paysOut ? [got.plus(feeTo).neg()] : [got, got.minus(feeFrom), paid.minus(feeFrom)];
  if (isFrom) return startsWithDeposit ? [zero, feeFrom.neg()] : [paid.neg()];
  return paysOut ? [zero, feeTo.neg()] : [got];
}
