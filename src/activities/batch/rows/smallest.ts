import type { BatchRow } from '../../../batch-files/source.js';
import type { AmountsByCurrency, BatchProgress } from '../../../contract/batch/batch.js';
import { decimal, decimalOrZero, divide } from '../../../contract/money.js';
import { hasFormOf } from '../../../contract/names.js';
import { asksForMoney } from './count.js';

/** Rows among which the smallest one goes first. */
export const ROWS_TO_CHOOSE_FROM = 200;

/**
 * Returns the row that asks for the smallest part of its currency's total, as a list; the next row
 * if none can be read. A row whose id has the form of one in doubt is preferred: another one is no
 * later order of it.
 */
export function smallestOf(
  rows: readonly BatchRow[],
  { open, uncertain = [] }: Pick<BatchProgress, 'open' | 'uncertain'>,
  totals: AmountsByCurrency,
): BatchRow[] {
  const inDoubt = open.flatMap(({ row, orderId }) => (uncertain.includes(row) ? [orderId] : []));
  const payouts = rows.flatMap((row) => {
    const { order, problem } = row;
    if (problem || !asksForMoney(order)) return [];
    const total = decimalOrZero(totals[order.currency]);
    const part = total.gt(0) ? divide(decimal(order.amount), total) : total;
    const isAlike = inDoubt.some((orderId) => hasFormOf(String(order.order_id), orderId));
    return [{ row, part, isAlike }];
  });
  const alike = payouts.filter(({ isAlike }) => isAlike);
  const [first] = (alike.length > 0 ? alike : payouts).toSorted((a, b) => a.part.cmp(b.part));
  return first ? [first.row] : rows.slice(0, 1);
}
