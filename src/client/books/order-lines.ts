import type { BookFollowUp, BookItem, OrderLine } from '../../contract/books/book.js';
import { decimalOrZero, toAmount } from '../../contract/money.js';
import { FINAL_AMOUNTS } from '../../contract/order/after-end.js';
import { isFinal } from '../../contract/service-objects.js';
import type { BookRun, ChangedOrder } from './our-orders.js';

/** Period in the service's format; `to` is excluded. */
interface ServicePeriod {
  from: string;
  to: string;
}

/** Facts about an order that the service's list lacks. */
interface OrderContext {
  account: string;
  entry: BookRun | undefined;
  changed: ChangedOrder | undefined;
  followUps: BookFollowUp[];
}

/** Returns the lines of an order in a period: its `order`, `open` or `part`, and a later change. */
export function linesOf(item: BookItem, { from, to }: ServicePeriod, context: OrderContext): OrderLine[] {
  const isIn = (at: string | null | undefined): boolean => at != null && at >= from && at < to;
  const { changed } = context;
  const reported = changed ? changed.original : item;
  const endedAt = reported && endOf(reported);
  const isLate = (at: string): boolean => !reported || (!!endedAt && at > endedAt);
  const changes = item.balance_changes.filter(({ created_at: at }) => isIn(at));
  const [late, own] = [
    changes.filter((one) => isLate(one.created_at)),
    changes.filter((one) => !isLate(one.created_at)),
  ];
  const base = baseOf(item, context);
  const lines: OrderLine[] = [];
  if (reported && isIn(endedAt ?? reported.created_at)) {
    const { status, finalized_at } = reported;
    const amounts = Object.fromEntries(FINAL_AMOUNTS.map((field) => [field, reported[field]]));
    lines.push({ ...base, ...amounts, status, finalized_at, kind: endedAt ? 'order' : 'open', balance_changes: own });
  } else if (own.length > 0) lines.push({ ...base, kind: 'part', balance_changes: own });
  // In one period only: balance changes may stand in the one before.
  const difference = changed && isIn(item.updated_at) && differenceBetween(item, changed.original);
  const isOther = difference && (item.status !== reported?.status || Object.keys(difference).length > 0);
  if (late.length > 0 || isOther) {
    lines.push({ ...base, kind: 'late', balance_changes: late, ...(difference && { difference }) });
  }
  return lines;
}

/** Returns when an order ended; null while it is open, '' if no date shows it. */
function endOf(order: Pick<BookItem, 'status' | 'created_at' | 'finalized_at' | 'updated_at'>): string | null {
  if (!isFinal(order.status)) return null;
  // An end before the creation is a placeholder.
  return [order.finalized_at, order.updated_at].find((at) => at && at >= order.created_at) ?? '';
}

/** Returns the dates without which an order or its money may be missing in a period. */
export function undatedIn(item: BookItem, { to }: ServicePeriod, changed: ChangedOrder | undefined): string[] {
  if (item.created_at >= to) return [];
  const reported = changed ? changed.original : item;
  const endedAt = reported && endOf(reported);
  return [
    ...(endedAt === '' ? ['finalized_at'] : []),
    ...(endedAt === null && !item.created_at ? ['created_at'] : []),
    ...(changed && !item.updated_at ? ['updated_at'] : []),
    ...(item.balance_changes.some(({ created_at: at }) => !at) ? ['balance_changes.created_at'] : []),
  ];
}

function differenceBetween(now: BookItem, before: ChangedOrder['original']): OrderLine['difference'] {
  const amounts = FINAL_AMOUNTS.flatMap((field) => {
    const difference = decimalOrZero(now[field]).minus(decimalOrZero(before?.[field]));
    return difference.eq(0) ? [] : [[field, toAmount(difference)]];
  });
  return Object.fromEntries(amounts);
}

function baseOf(
  item: BookItem,
  { account, entry, followUps }: OrderContext,
): Omit<OrderLine, 'kind' | 'balance_changes'> {
  const { user_order_id, strict_withdrawal_amount: isStrict, balance_changes: _, unreadable: __, ...shown } = item;
  return {
    account,
    order_id: user_order_id || item.order_uuid,
    ...(entry?.reference && { reference: entry.reference }),
    ...shown,
    asked_amount: isStrict ? item.expected_amount_to : item.expected_amount_from,
    asked_currency: isStrict ? item.currency_to : item.currency_from,
    follow_ups: followUps,
    ...(entry?.closedAt && { ended: entry.closedAt.toISOString() }),
  };
}
