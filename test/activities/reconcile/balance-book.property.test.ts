import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addChanges, closeOverfull, gapOf, trailOf } from '../../../src/activities/reconcile/balance-book.js';
import type { BalanceBook } from '../../../src/contract/reconcile/days.js';
import type { BalanceChange } from '../../../src/contract/service-objects.js';
import { booksOf } from './cases.fixture.js';

const at = (second: number): string =>
  new Date(1_760_000_000_000 + second * 1000).toISOString().slice(0, 19).replace('T', ' ');

/** The changes that make a balance go through these values (in hundredths), `perSecond` of them at a time. */
function trail(balances: readonly number[], perSecond: number): BalanceChange[] {
  const text = (hundredths: number) => new Big(hundredths).div(100).toFixed();
  return balances.slice(1).map((after, index) => {
    const before = balances[index] ?? 0;
    return {
      currency: 'usd',
      amount_before: text(before),
      amount_change: text(after - before),
      amount_after: text(after),
      created_at: at(Math.floor(index / perSecond)),
    };
  });
}

const total = (amounts: readonly string[]): string =>
  amounts.reduce((sum, amount) => sum.plus(amount), new Big(0)).toFixed();

function chainOf(changes: readonly BalanceChange[], expected?: { start?: string; end?: string }) {
  const { usd } = booksOf(changes);
  if (!usd) throw new Error('no changes');
  const { start, end, gaps } = trailOf(usd, expected);
  return { start, end, gaps: gaps.length, shown: gaps.map((gap) => gapOf('usd', gap)) };
}

/** Few values, so that balances come back to where they were again and again. */
const crowded = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 2, maxLength: 40 });
const distinct = fc.uniqueArray(fc.integer({ min: -1_000_000, max: 1_000_000 }), { minLength: 4, maxLength: 60 });

/** The same items in another order, as fast-check drew it. */
const shuffle = <T>(items: readonly T[], keys: readonly number[]): T[] =>
  items
    .map((item, index) => ({ item, key: keys[index % keys.length] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
const keys = fc.array(fc.integer(), { minLength: 60, maxLength: 60 });

describe('a chain of balance changes', () => {
  test('has no gap where nothing is missing, in any order, with any number of changes in one second', () => {
    fc.assert(
      fc.property(crowded, fc.integer({ min: 1, max: 40 }), keys, (balances, perSecond, order) => {
        expect(chainOf(shuffle(trail(balances, perSecond), order)).gaps).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('names exactly what is missing between its first and last change', () => {
    fc.assert(
      fc.property(distinct, fc.array(fc.nat(), { minLength: 1, maxLength: 10 }), keys, (balances, removals, order) => {
        const all = trail(balances, 1);
        // The first and the last change stay: what is missing outside of them leaves no trace.
        const removed = new Set(removals.map((n) => 1 + (n % Math.max(1, all.length - 2))));
        if (all.length < 3) return;
        const kept = all.filter((_, index) => !removed.has(index));
        const runs: { after: string; before: string }[] = [];
        for (const [index, change] of all.entries()) {
          if (!removed.has(index)) continue;
          const last = runs.at(-1);
          if (last && removed.has(index - 1)) last.before = change.amount_after;
          else runs.push({ after: change.amount_before, before: change.amount_after });
        }
        const { shown: gaps } = chainOf(shuffle(kept, order));
        expect(gaps.map(({ after, before }) => ({ after, before }))).toEqual(runs);
        for (const gap of gaps) expect(gap.amount).toBe(new Big(gap.before).minus(gap.after).toFixed());
      }),
      { numRuns: 500 },
    );
  });

  test('has gaps that add up to what is missing, also where balances repeat', () => {
    fc.assert(
      fc.property(crowded, fc.array(fc.nat(), { maxLength: 8 }), keys, (balances, removals, order) => {
        const all = trail(balances, 1);
        const removed = new Set(removals.map((n) => 1 + (n % Math.max(1, all.length - 2))));
        if (all.length < 3) return;
        const missing = all.filter((_, index) => removed.has(index)).map(({ amount_change }) => amount_change);
        const kept = all.filter((_, index) => !removed.has(index));
        expect(total(chainOf(shuffle(kept, order)).shown.map(({ amount }) => amount))).toBe(total(missing));
      }),
      { numRuns: 500 },
    );
  });

  test('names a single missing change also when all happened within one second, given the balances before and now', () => {
    fc.assert(
      fc.property(distinct, fc.nat(), keys, (balances, n, order) => {
        const all = trail(balances, 1000);
        const index = 1 + (n % (all.length - 2));
        const missing = all[index];
        const known = { start: all[0]?.amount_before ?? '', end: all.at(-1)?.amount_after ?? '' };
        expect(chainOf(shuffle(all.toSpliced(index, 1), order), known).shown).toEqual([
          {
            currency: 'usd',
            amount: missing?.amount_change,
            after: missing?.amount_before,
            before: missing?.amount_after,
          },
        ]);
      }),
    );
  });
});

test('a book of many changes is small, and is closed when its changes do not join', () => {
  const books: Record<string, BalanceBook> = {};
  const steps = Array.from({ length: 10_001 }, (_, n) => n);
  addChanges(books, trail(steps, 10), { from: '' });
  expect(JSON.stringify(books).length).toBeLessThan(1_000);
  expect(closeOverfull(books)).toEqual([]);
  const apart = trail(steps, 1).filter((_, n) => n % 2 === 0);
  const loose = booksOf(apart);
  expect(closeOverfull(loose, 5_000)).toEqual(['usd']);
  expect(loose.usd).toMatchObject({ changes: 5_000, isOverfull: true, tips: {} });
});
