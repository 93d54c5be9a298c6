import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainsOf } from '../../../src/activities/reconcile/balance-chain.js';
import { fold, spelled } from '../../../src/activities/reconcile/balance-fold.js';
import type { BalanceChange } from '../../../src/contract/service-objects.js';
import { foldOf } from './cases.fixture.js';

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

const chainOf = (changes: readonly BalanceChange[]) => {
  const [chain] = chainsOf(foldOf(changes).currencies);
  if (!chain) throw new Error('no chain');
  return chain;
};

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

  test('names a single missing change also when all happened within one second, given the balance of now', () => {
    fc.assert(
      fc.property(distinct, fc.nat(), keys, (balances, n, order) => {
        const all = trail(balances, 1000);
        const index = 1 + (n % (all.length - 2));
        const missing = all[index];
        const known = new Map([['usd', all.at(-1)?.amount_after ?? '']]);
        const [chain] = chainsOf(foldOf(shuffle(all.toSpliced(index, 1), order)).currencies, known);
        expect(chain?.shown).toEqual([
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

describe('a chain that is folded on the way', () => {
  /** The changes in pieces, everything before a piece folded when it comes. */
  function chainInPieces(changes: readonly BalanceChange[], pieces: number) {
    const size = Math.max(1, Math.ceil(changes.length / pieces));
    const whole = foldOf([]);
    for (let start = 0; start < changes.length; start += size) {
      whole.take(changes.slice(start, start + size));
      const next = changes[start + size];
      const usd = whole.currencies.usd;
      if (usd && next) fold(usd, next.created_at);
    }
    const [chain] = chainsOf(whole.currencies);
    return chain;
  }
  const pieces = fc.integer({ min: 1, max: 12 });

  test('is the same where nothing is missing, also where balances come back to where they were', () => {
    fc.assert(
      fc.property(crowded, pieces, fc.integer({ min: 1, max: 8 }), (balances, count, perSecond) => {
        const all = trail(balances, perSecond);
        expect(chainInPieces(all, count)).toMatchObject({ gaps: 0, changes: all.length });
      }),
      { numRuns: 500 },
    );
  });

  test('shows the same gaps as one that is looked at whole', () => {
    fc.assert(
      fc.property(
        distinct,
        fc.array(fc.nat(), { minLength: 1, maxLength: 10 }),
        pieces,
        (balances, removals, count) => {
          const all = trail(balances, 1);
          const removed = new Set(removals.map((n) => 1 + (n % Math.max(1, all.length - 2))));
          if (all.length < 3) return;
          const rest = all.filter((_, index) => !removed.has(index));
          expect(chainInPieces(rest, count)).toEqual(chainOf(rest));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('holds little of many changes', () => {
    const many = foldOf(
      trail(
        Array.from({ length: 10_001 }, (_, n) => n),
        10,
      ),
    );
    many.foldBefore(at(990));
    expect(many.currencies.usd?.held).toHaveLength(100);
    expect(chainsOf(many.currencies)).toMatchObject([{ changes: 10_000, gaps: 0, start: '0', end: '100' }]);
  });
});

test('a balance has one spelling, whatever zeros it is written with', () => {
  const digits = fc.stringMatching(/^-?\d{1,20}(\.\d{1,12})?$/);
  fc.assert(
    fc.property(digits, (amount) => {
      const value = new Big(amount);
      expect(spelled(amount)).toBe(value.eq(0) ? '0' : value.toFixed());
    }),
  );
});
