import { describe, expect, test } from 'vitest';
import {
  firstRowOf,
  mayGoFirst,
  recordFirst,
  whyNoneGoesFirst,
  whyOneAtATime,
} from '../../../src/activities/batch/rows/go-first.js';
import { smallestOf } from '../../../src/activities/batch/rows/smallest.js';
import type { BatchRow } from '../../../src/batch-files/source.js';
import { type BatchProgress, NONE_ENDED } from '../../../src/contract/batch/batch.js';

const WINDOW_MS = 600_000;

function progressWith(change: Partial<BatchProgress>): BatchProgress {
  const { uncertain = [] } = change;
  const open = uncertain.map((row) => ({ row, orderId: `row-${row}` }));
  return {
    taken: 100,
    started: 100,
    open,
    outcomes: { ...NONE_ENDED },
    moved: {},
    exhausted: false,
    unsettled: [],
    ...change,
  };
}

interface Case {
  what: string;
  uncertain?: number[];
  unsettled?: number[];
  /** Those that are uncertain if omitted. */
  open?: number[];
  left?: number;
  maxInFlight?: number;
  isUnanswered?: true;
  why?: RegExp;
}

const CASES: Case[] = [
  { what: 'two neighbours are uncertain', uncertain: [4, 5] },
  { what: 'three are uncertain apart', uncertain: [4, 6, 8, 10] },
  {
    what: 'three neighbours are uncertain, in any order',
    uncertain: [9, 6, 2, 7, 5],
    why: /^rows 5 to 7 are uncertain/,
  },
  { what: 'a parked one lies between', uncertain: [5, 7], unsettled: [6], why: /^rows 5 to 7 are uncertain/ },
  { what: 'one row is both', uncertain: [5, 6], unsettled: [6] },
  { what: 'three neighbours are parked', unsettled: [7, 5, 6], why: /^rows 5 to 7 are uncertain/ },
  {
    what: 'all open rows are uncertain, and as many as may be open',
    uncertain: [4, 6],
    maxInFlight: 2,
    why: /^2 of 2 open rows are uncertain, and no more/,
  },
  {
    what: 'one of as many open rows as may be is uncertain, and the others are followed for hours',
    uncertain: [4],
    open: [4, 5, 6],
    maxInFlight: 3,
    why: /^1 of 3 open rows/,
  },
  { what: 'as many rows as may be are open, and none is uncertain', open: [4, 5], maxInFlight: 2 },
  { what: 'few rows are left, and one is uncertain', uncertain: [4], left: 3, why: /^row 4 is uncertain, and few/ },
  { what: 'few rows are left, and a create has no answer', left: 3, isUnanswered: true, why: /^few rows are left/ },
  { what: 'many rows are left, and a create has no answer', left: 4, isUnanswered: true },
  { what: 'no row is left', uncertain: [4, 5, 6], left: 0 },
];

describe('why rows go one at a time', () => {
  test.for(CASES)(
    '$what',
    ({ uncertain = [], unsettled = [], open, left = 50, maxInFlight = 100, isUnanswered, why }) => {
      const rows = open?.map((row) => ({ row, orderId: `row-${row}` }));
      const progress = progressWith({ uncertain, unsettled, ...(rows && { open: rows }) });
      expect(whyOneAtATime(progress, { left, maxInFlight, ...(isUnanswered && { isUnanswered }) })?.why).toEqual(
        why && expect.stringMatching(why),
      );
    },
  );
});

describe('rows that go one at a time', () => {
  const usual = { left: 50, maxInFlight: 100, windowMs: WINDOW_MS };

  test('one goes at once, and the next one as soon as it is clear', () => {
    const progress = progressWith({ uncertain: [5, 6, 7] });
    recordFirst(progress, { ...usual, nowMs: 0 });
    expect(mayGoFirst(progress, 100, 0)).toBe(true);
    Object.assign(progress.first ?? {}, { row: 101, orderId: 'row-101' });
    progress.open.push({ row: 101, orderId: 'row-101' });
    expect(firstRowOf(progress)).toBe('moving');
    recordFirst(progress, { ...usual, nowMs: 1_000, row: 'moving' });
    expect(mayGoFirst(progress, 100, 1_000)).toBe(false);
    recordFirst(progress, { ...usual, nowMs: 2_000, row: 'clear' });
    expect(mayGoFirst(progress, 100, 2_000)).toBe(true);
  });

  test('a clear one ends the caution because of parked rows', () => {
    const progress = progressWith({ unsettled: [5, 6, 7] });
    recordFirst(progress, { ...usual, nowMs: 0 });
    expect(progress.first).toBeDefined();
    recordFirst(progress, { ...usual, nowMs: 0, row: 'clear' });
    expect(progress).toMatchObject({ unsettled: [] });
    expect(progress.first).toBeUndefined();
  });

  test('after six in a row without a clear answer, over at least five windows, a person is asked', () => {
    const progress = progressWith({ uncertain: [5, 6, 7] });
    let nowMs = 0;
    recordFirst(progress, { ...usual, nowMs });
    for (let tries = 1; tries <= 6; tries += 1) {
      expect(whyNoneGoesFirst(progress)).toBeUndefined();
      recordFirst(progress, { ...usual, nowMs, row: 'unclear' });
      expect(mayGoFirst(progress, 100, nowMs)).toBe(false);
      if (tries < 6) nowMs = progress.first?.nextAtMs ?? 0;
    }
    expect(nowMs).toBeGreaterThan(3.5 * WINDOW_MS);
    expect(whyNoneGoesFirst(progress)).toMatch(/^rows 5 to 7 .*and 6 rows .* check them before more is sent/);
  });

  test('the last rows go late enough to be later orders of the newest doubt', () => {
    const progress = progressWith({ uncertain: [5] });
    const few = { ...usual, left: 2 };
    recordFirst(progress, { ...few, nowMs: 0, isNewlyUncertain: true });
    expect(mayGoFirst(progress, 100, 0.2 * WINDOW_MS + 25_000)).toBe(false);
    expect(mayGoFirst(progress, 100, 0.25 * WINDOW_MS + 25_000)).toBe(true);
    recordFirst(progress, { ...few, nowMs: 200_000, row: 'clear' });
    expect(mayGoFirst(progress, 100, 200_000 + 0.9 * WINDOW_MS)).toBe(false);
    recordFirst({ ...progress, uncertain: [] }, { ...few, nowMs: 200_000 });
    progress.uncertain = [];
    recordFirst(progress, { ...few, nowMs: 200_000 });
    expect(progress.first).toBeUndefined();
  });
});

test('rows that go one at a time take the places of those that are uncertain, and no others', () => {
  const followed = [5, 6, 7].map((row) => ({ row, orderId: `row-${row}` }));
  const mixed = progressWith({ uncertain: [7], open: followed, first: { why: '', unclear: 0, nextAtMs: 0 } });
  expect(mayGoFirst(mixed, 3, 0)).toBe(true);
  expect(mayGoFirst(mixed, 2, 0)).toBe(false);
  const open = [{ row: 5, orderId: 'row-5' }];
  const progress = progressWith({ uncertain: [5], open, first: { why: '', unclear: 0, nextAtMs: 0 } });
  expect(mayGoFirst(progress, 1, 0)).toBe(true);
  expect(mayGoFirst({ ...progress, uncertain: [] }, 1, 0)).toBe(false);
});

// The create of a worker that died is known to be in doubt only after its limit.
test.for([
  ['a window', WINDOW_MS, WINDOW_MS],
  ['the limit of a create, in a window of seconds', 10_000, 60_000],
] as const)(
  'the last rows wait for %s while a create before them has no answer, but not for ever',
  ([, windowMs, waitsMs]) => {
    const progress = progressWith({ open: [{ row: 5, orderId: 'row-5' }] });
    const few = { left: 1, maxInFlight: 100, windowMs };
    const lookAt = (nowMs: number, isUnanswered = true) => recordFirst(progress, { ...few, nowMs, isUnanswered });
    for (let nowMs = 0; nowMs < waitsMs; nowMs += 3_000) {
      lookAt(nowMs);
      expect(mayGoFirst(progress, 100, nowMs)).toBe(false);
    }
    expect(mayGoFirst(progress, 100, waitsMs)).toBe(true);
    lookAt(waitsMs, false);
    expect(progress.first).toBeUndefined();
  },
);

describe('the row that goes first', () => {
  const row = (n: number, amount: string, currency = 'usd', order_id = `row-${n}`): BatchRow => ({
    ...{ row: n, line: n, text: '' },
    order: { order_id, currency, network: 'card', amount, wallet: '' },
  });
  const totals = { usd: '1000', btc: '1' };

  test('asks for the smallest part of its currency', () => {
    const rows = [row(1, '12.50'), row(2, '0.5', 'btc'), row(3, '9.99'), row(4, '100')];
    expect(smallestOf(rows, { open: [] }, totals)).toEqual([rows[2]]);
  });

  test('has an id of the form of a row in doubt, if any has', () => {
    const rows = [row(1, '1', 'usd', 'r'), row(2, '50')];
    const open = [{ row: 9, orderId: 'row-9' }];
    expect(smallestOf(rows, { open, uncertain: [9] }, totals)).toEqual([rows[1]]);
  });

  test('is the next one if none can be read', () => {
    const rows = [{ ...row(1, '1'), problem: [{ field: 'order', reason: 'is no JSON' }] }];
    expect(smallestOf(rows, { open: [] }, totals)).toEqual(rows);
  });
});
