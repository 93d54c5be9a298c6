import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Sums } from '../../src/client/books/sums.js';
import type { BalanceChange } from '../../src/contract/service-objects.js';

const PERIOD = { account: 'a', fromMs: Date.UTC(2026, 10, 26), toMs: Date.UTC(2026, 10, 27), untilNow: false };
const [BEFORE, EARLY, NOON, LATE, AFTER] = [
  '2026-11-25 20:00:00',
  '2026-11-26 00:00:00',
  '2026-11-26 12:00:00',
  '2026-11-26 23:59:59',
  '2026-11-27 00:00:00',
];

/** The balance changes of one order, through these balances, within one second. */
const order = (at: string, ...balances: number[]): BalanceChange[] =>
  balances.slice(1).map((after, n) => {
    const [before = 0, amounts] = [balances[n], { amount_after: `${after}`, created_at: at }];
    return { currency: 'usd', amount_before: `${before}`, amount_change: `${after - before}`, ...amounts };
  });

function sumsOf(orders: readonly BalanceChange[][], now?: number) {
  const sums = new Sums(PERIOD);
  for (const changes of orders) sums.add(changes);
  const balances = now === undefined ? undefined : { usd: { currency: 'usd', amount: `${now}`, overdraft: '0' } };
  const [line] = sums.lines(balances && [balances as never, balances as never]);
  return { unclear: [...sums.unclear], ...line };
}

const PAID_AND_BACK = [order(NOON, 100, 88), order(NOON, 88, 100)];

describe('movements that cancel within a second', () => {
  test.each([
    ['of one order', [order(NOON, 100, 110, 100)], 100, 100],
    ['of one order, after an earlier one', [order(BEFORE, 120, 100), order(NOON, 100, 110, 100)], 100, 100],
    ['of one order, with a third balance', [order(NOON, 100, 110, 120, 100)], 100, 100],
    ['of one order, beside another', [order(NOON, 100, 110, 100), order(NOON, 100, 95)], 100, 95],
    ['of two orders, after an earlier one', [order(BEFORE, 120, 100), ...PAID_AND_BACK], 100, 100],
    ['of two orders, after an earlier one, begun by the other', [order(BEFORE, 120, 88), ...PAID_AND_BACK], 88, 88],
    ['of two orders, before a later one', [...PAID_AND_BACK, order(AFTER, 88, 7)], 88, 88],
    ['of two orders, before others of the period', [...PAID_AND_BACK, order(LATE, 88, 7)], 88, 7],
    ['of two orders, after others of the period', [order(EARLY, 7, 88), ...PAID_AND_BACK], 7, 88],
    ['of two orders before the period', [order(BEFORE, 9, 5), order(BEFORE, 5, 9), order(NOON, 5, 3)], 5, 3],
    [
      'at both ends',
      [order(BEFORE, 9, 5), order(BEFORE, 5, 9), order(NOON, 5, 9), order(NOON, 9, 5), order(AFTER, 5, 1)],
      5,
      5,
    ],
  ])('%s are no difference', (_, orders, opening, closing) => {
    for (const one of [orders, orders.toReversed()]) {
      const found = { unclear: [], opening: `${opening}`, closing: `${closing}`, difference: '0' };
      expect(sumsOf(one)).toMatchObject(found);
    }
  });

  test('lead to the current balance', () => {
    expect(sumsOf(PAID_AND_BACK, 88)).toMatchObject({ unclear: [], opening: '88', closing: '88', difference: '0' });
  });

  test('without anything around them are named', () => {
    expect(sumsOf(PAID_AND_BACK).unclear).toEqual(['usd']);
  });

  test('hide no money that moved outside of orders', () => {
    const orders = [order(BEFORE, 120, 88), ...PAID_AND_BACK, order(AFTER, 100, 7)];
    expect(sumsOf(orders)).toMatchObject({ opening: '88', closing: '100', difference: '12' });
  });
});

test('opening and closing are those of the ledger, or named as unclear, however crowded its seconds are', () => {
  const balances = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 24 });
  const starts = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 });
  const perSecond = fc.integer({ min: 1, max: 12 });
  fc.assert(
    fc.property(balances, perSecond, starts, fc.integer({ min: 0, max: 24 }), (all, count, isNew, from) => {
      const orders: BalanceChange[][] = [];
      const fromMs = PERIOD.fromMs - Math.floor(from / count) * 1_000;
      for (const [n, after] of all.slice(1).entries()) {
        const at = new Date(fromMs + Math.floor(n / count) * 1_000).toISOString().slice(0, 19).replace('T', ' ');
        const changes = order(at, all[n] ?? 0, after);
        if (n === 0 || isNew[n]) orders.push(changes);
        else orders.at(-1)?.push(...changes);
      }
      const within = orders.flat().filter(({ created_at: at }) => at >= EARLY);
      if (within.length === 0) return;
      for (const one of [orders, orders.toReversed()]) {
        const { unclear, ...line } = sumsOf(one);
        if (unclear.length > 0) continue;
        const [opening, closing] = [within[0]?.amount_before, within.at(-1)?.amount_after];
        expect(line).toMatchObject({ opening, closing, difference: '0' });
      }
    }),
    { numRuns: 1_000 },
  );
});
