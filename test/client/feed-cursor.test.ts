import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  advance,
  decodePosition,
  encodePosition,
  expectedCount,
  type FeedPosition,
  OVERLAP_MS,
  widened,
} from '../../src/client/feed-cursor.js';

/** An ended run, and when Temporal lists it. */
interface Row {
  runId: string;
  closedMs: number;
  listedMs: number;
}

/** A page as Temporal gives it: newest first, below the token's row. */
function pageOf(rows: readonly Row[], nowMs: number, { start = 0, page }: FeedPosition, size: number) {
  const key = ({ closedMs, runId }: Row) => `${String(closedMs).padStart(12, '0')}:${runId}`;
  const below = page && Buffer.from(page.token, 'base64').toString();
  const left = rows
    .filter((row) => row.listedMs <= nowMs && row.closedMs >= start && (below === undefined || key(row) < below))
    .sort((one, other) => (key(one) < key(other) ? 1 : -1));
  const runs = left.slice(0, size);
  const last = runs.at(-1);
  return { runs, token: last && left.length > size ? Buffer.from(key(last)) : undefined };
}

const START_MS = 1_000_000;
const START: FeedPosition = { counts: {}, seen: [] };

/** Reads to the end with a clock that goes on; where `dies` says so, the reader loses the cursor of a page. */
function readAll(rows: readonly Row[], size: number, steps: readonly number[], dies: readonly boolean[]): string[] {
  const lastMs = Math.max(0, ...rows.map(({ listedMs }) => listedMs));
  const returned: string[] = [];
  let stored = encodePosition(START);
  let nowMs = START_MS;
  let quiet = 0;
  for (let round = 0; round < 10_000; round += 1) {
    let at = decodePosition(stored) ?? START;
    const { from = 0, start = 0 } = at;
    const listed = rows.filter((row) => row.listedMs <= nowMs && row.closedMs >= from);
    const isNew = at.page || at.total === undefined || at.total !== listed.length;
    const before = listed.filter(({ closedMs }) => closedMs < start);
    if (isNew && !at.page && at.total !== undefined && before.length !== expectedCount(at)) at = widened(at);
    const { found, next } = isNew ? advance(at, pageOf(rows, nowMs, at, size)) : { found: [], next: at };
    returned.push(...found.map(({ runId }) => runId));
    const isDead = dies.length > 0 && dies[round % dies.length] && round < 50;
    if (!isDead) stored = encodePosition(next);
    // As text with its seal, at most 4,000 characters.
    expect(stored.length).toBeLessThan(2_900);
    quiet = !isDead && nowMs > lastMs && found.length === 0 && !next.page ? quiet + 1 : found.length > 0 ? 0 : quiet;
    // The first window may have begun before the last end was listed.
    if (quiet === 2) return returned;
    nowMs += steps[round % steps.length] ?? 1;
  }
  throw new Error('a quiet list returns something for ever');
}

const rowsOf = (most: number) =>
  fc
    .array(fc.record({ at: fc.nat(600_000), delay: fc.nat(OVERLAP_MS - 1) }), { maxLength: most })
    .map((all) =>
      all.map(
        ({ at, delay }, n): Row => ({ runId: `run-${n}`, closedMs: START_MS + at, listedMs: START_MS + at + delay }),
      ),
    );

const sizes = fc.integer({ min: 1, max: 9 });
const steps = fc.array(fc.integer({ min: 500, max: 60_000 }), { minLength: 1, maxLength: 20 });

test('a reader that never dies gets each end once, also those that are listed late', () => {
  fc.assert(
    fc.property(rowsOf(60), sizes, steps, (rows, size, some) => {
      expect(readAll(rows, size, some, []).toSorted()).toEqual(rows.map(({ runId }) => runId).toSorted());
    }),
  );
});

test('a reader that dies gets each end at least once', () => {
  const dies = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(rowsOf(60), sizes, steps, dies, (rows, size, some, deaths) => {
      expect(new Set(readAll(rows, size, some, deaths))).toEqual(new Set(rows.map(({ runId }) => runId)));
    }),
  );
});

test('a burst costs few duplicates, also where ends are listed late', () => {
  const rows = Array.from({ length: 4_000 }, (_, n) => {
    const closedMs = START_MS + n * 20;
    return { runId: `run-${n}`, closedMs, listedMs: closedMs + (n % 7) * 50 };
  });
  const returned = readAll(rows, 200, [2_000], []);
  expect(new Set(returned).size).toBe(rows.length);
  expect(returned.length).toBeLessThan(2 * rows.length);
  const late = rows.map((row, n) => (n === 1_000 ? { ...row, listedMs: row.closedMs + OVERLAP_MS / 4 } : row));
  expect(new Set(readAll(late, 200, [2_000], [])).size).toBe(rows.length);
});

test('a position survives its encoding', () => {
  const hashes = Array.from({ length: 20 }, (_, n) => Buffer.alloc(6, n).toString('base64url'));
  const page = { token: 'abc=', top: 9, fresh: hashes.slice(12), full: 3, counts: { 3: 1 } };
  const at = { from: 5, start: 7, total: 4, counts: { 1: 2, 5: 3 }, seen: hashes.slice(0, 12), page };
  expect(decodePosition(encodePosition(at))).toEqual(at);
  expect(decodePosition(encodePosition(START))).toEqual(START);
});
