import { describe, expect, test } from 'vitest';
import { addMalformed } from '../../../src/activities/reconcile/scan.js';
import { daysOf, emptyTotals, gravestRows, MAX_ROWS } from '../../../src/contract/reconcile/days.js';
import { type Finding, MAX_SHOWN, type ReconcileClass } from '../../../src/contract/reconcile/reconcile.js';

const HOUR_MS = 3_600_000;

const rowsOf = (name: ReconcileClass, count: number): Finding[] =>
  Array.from({ length: count }, (_, n) => ({ class: name, order_id: `${name}-${n}` }));

test('the days of a window follow each other, from before it to 26 h after it', () => {
  const [fromMs, toMs] = [1_000 * HOUR_MS, 1_072 * HOUR_MS];
  const days = daysOf({ fromMs, toMs });
  expect(days).toHaveLength(6);
  expect(days[0]?.fromMs).toBe(0);
  expect(days.slice(1).map((day) => day.fromMs)).toEqual(days.slice(0, -1).map((day) => day.toMs));
  expect([days[1]?.fromMs, days.at(-1)?.toMs]).toEqual([fromMs - 26 * HOUR_MS, toMs + 26 * HOUR_MS]);
});

describe('the rows of a report', () => {
  test('are the gravest of too many, however late they come', () => {
    const rows = gravestRows([
      ...rowsOf('foreign', MAX_ROWS),
      ...rowsOf('receiptFollowed', 5),
      ...rowsOf('duplicate', 1),
    ]);
    expect(rows).toHaveLength(MAX_ROWS);
    expect(rows[0]?.class).toBe('duplicate');
    expect(rows.at(-1)?.class).toBe('foreign');
  });

  test('of a day are those that have room beside the rows of earlier days', () => {
    const before = { ...emptyTotals().classes, duplicate: 10, foreign: MAX_ROWS - 12, woken: 50, equal: MAX_ROWS };
    const rows = gravestRows([...rowsOf('foreign', 4), ...rowsOf('woken', 4), ...rowsOf('duplicate', 1)], before);
    expect(rows.map(({ class: name }) => name)).toEqual(['duplicate', 'foreign']);
    const full = { ...before, foreign: 2 * MAX_ROWS };
    expect(gravestRows(rowsOf('duplicate', MAX_ROWS), full)).toHaveLength(MAX_ROWS - 10);
    expect(gravestRows(rowsOf('foreign', 1), full)).toEqual([]);
  });

  test('fit a payload, whatever they say', () => {
    const long = rowsOf('foreign', MAX_ROWS).map((row) => ({ ...row, detail: 'x'.repeat(1_000) }));
    expect(JSON.stringify(gravestRows(long)).length).toBeLessThan(1_300_000);
  });
});

test('all that cannot be read is counted, and the first of it is kept', () => {
  const totals = emptyTotals();
  for (let n = 0; n < 700; n += 1) addMalformed(totals, [{ place: `${n}`, reason: 'unreadable' }]);
  expect([totals.malformedCount, totals.malformed.length, totals.malformed[0]?.place]).toEqual([700, MAX_SHOWN, '0']);
});
