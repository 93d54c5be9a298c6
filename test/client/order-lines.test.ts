import { expect, test } from 'vitest';
import { linesOf } from '../../src/client/books/order-lines.js';
import type { BookItem } from '../../src/contract/books/book.js';

const reported = {
  ...{ order_uuid: 'u', user_order_id: 'o', order_type: 'withdraw', status: 'completed' },
  ...{ currency_from: 'usd', currency_to: 'usd', amount_from: '100', amount_to: '100' },
  ...{ created_at: '2026-11-25 09:00:00', finalized_at: '2026-11-25 10:00:00', updated_at: '2026-11-25 10:00:00' },
};
const moved = { currency: 'usd', amount_before: '0', amount_change: '100', amount_after: '100' };
const MOVED_ON_26 = [{ ...moved, created_at: '2026-11-26 23:59:58' }];

/** Lines of an order that came back after its end, by the day of November. */
function late(updated: string, changes = MOVED_ON_26) {
  const item = { ...reported, status: 'canceled', amount_to: '0', updated_at: updated, balance_changes: changes };
  const changed = { original: reported, atMs: 0 } as never;
  return Object.fromEntries(
    [25, 26, 27].map((day) => {
      const period = { from: `2026-11-${day} 00:00:00`, to: `2026-11-${day + 1} 00:00:00` };
      const lines = linesOf(item as unknown as BookItem, period, {
        ...{ account: 'a', entry: undefined, followUps: [], changed },
      });
      return [
        day,
        lines.flatMap(({ kind, balance_changes: { length }, difference }) =>
          kind === 'late' ? [{ changes: length, ...(difference && { difference }) }] : [],
        ),
      ];
    }),
  );
}

const difference = { amount_to: '-100' };

test('a difference after the end stands in the book of one day, the one of `updated_at`', () => {
  expect(late('2026-11-26 23:59:59')).toEqual({ 25: [], 26: [{ changes: 1, difference }], 27: [] });
  expect(late('2026-11-27 00:00:01')).toEqual({ 25: [], 26: [{ changes: 1 }], 27: [{ changes: 0, difference }] });
  expect(late('2026-11-27 00:00:01', [])).toEqual({ 25: [], 26: [], 27: [{ changes: 0, difference }] });
});
