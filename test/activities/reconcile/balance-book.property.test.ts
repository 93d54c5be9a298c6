import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Around, trailsOf } from '../../../src/contract/reconcile/balance-book.js';
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

function chainOf(changes: readonly BalanceChange[], around?: Around) {
  const { usd } = booksOf(changes);
  if (!usd) throw new Error('no changes');
  return trailsOf(usd, around)[0];
}

const total = (changes: readonly BalanceChange[]): string =>
  changes.reduce((sum, { amount_change }) => sum.plus(amount_change), new Big(0)).toFixed();

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
  test('misses nothing where nothing is missing, in any order, with any number of changes in one second', () => {
    fc.assert(
      fc.property(crowded, fc.integer({ min: 1, max: 40 }), keys, (balances, perSecond, order) => {
        expect(chainOf(shuffle(trail(balances, perSecond), order)).missing).toBe('0');
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['also where balances repeat', crowded],
    ['where each balance is another one', distinct],
  ])('misses exactly what is missing between its first and last change, %s', (_, drawn) => {
    fc.assert(
      fc.property(drawn, fc.array(fc.nat(), { maxLength: 8 }), keys, (balances, removals, order) => {
        const all = trail(balances, 1);
        if (all.length < 3) return;
        // The first and the last change stay: what is missing outside of them leaves no trace.
        const removed = new Set(removals.map((n) => 1 + (n % (all.length - 2))));
        const kept = all.filter((_change, index) => !removed.has(index));
        const { start, end, missing } = chainOf(shuffle(kept, order));
        expect([start, end]).toEqual([all[0]?.amount_before, all.at(-1)?.amount_after]);
        expect(missing).toBe(total(all.filter((_change, index) => removed.has(index))));
      }),
      { numRuns: 500 },
    );
  });

  test('misses a single change also when all happened within one second, given the balances before and now', () => {
    fc.assert(
      fc.property(distinct, fc.nat(), keys, (balances, n, order) => {
        const all = trail(balances, 1000);
        const index = 1 + (n % (all.length - 2));
        const known = { start: [all[0]?.amount_before ?? ''], end: [all.at(-1)?.amount_after ?? ''] };
        const { missing } = chainOf(shuffle(all.toSpliced(index, 1), order), known);
        expect(missing).toBe(all[index]?.amount_change);
      }),
    );
  });
});
