import { describe, expect, test } from 'vitest';
import { prove } from '../../../src/activities/reconcile/prove.js';
import { spelled } from '../../../src/contract/reconcile/balance-book.js';
import { type BalanceBook, emptyTotals } from '../../../src/contract/reconcile/days.js';
import type { CarriedBalance } from '../../../src/contract/reconcile/reconcile.js';
import type { BalanceChange, Balances } from '../../../src/contract/service-objects.js';
import { booksOf, TASK, usdBalance, usdChange } from './cases.fixture.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
/** As a run looks back by default. */
const WINDOW = { fromMs: NOW_MS - 72 * HOUR_MS };
const at = (hoursAgo: number): string => new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString();

const carry = (amount: string, hoursAgo = 24) => new Map([['usd', { currency: 'usd', amount, at: at(hoursAgo) }]]);

const change = (before: string, after: string) => usdChange('2026-11-22 09:00:00', before, after);

/** What was read until now; `carried`: what the changes are held against. */
interface Read {
  before?: Balances;
  after?: Balances;
  books: Record<string, BalanceBook>;
  untilNow?: boolean;
}

const usd = (amount: string): Balances => ({ usd: usdBalance(amount) });

function seen(shown: string, changes: BalanceChange[] = [], carried = '100'): Read {
  const books = booksOf(changes, { carried: new Map([['usd', spelled(carried)]]) });
  return { before: usd(shown), after: usd(shown), books };
}

function compare(
  carried: ReadonlyMap<string, CarriedBalance>,
  { before, after, books, untilNow = true }: Read,
  window = WINDOW,
) {
  const task = { ...TASK, toMs: NOW_MS, untilNow, ...window };
  const totals = { ...emptyTotals(), books };
  return prove({ ...task, atMs: NOW_MS, carried: [...carried.values()], totals, ...(before && { before }) }, after);
}

const fresh = (amount: string): CarriedBalance => ({ currency: 'usd', amount, at: at(0) });

describe('a balance without a change', () => {
  test.each(['100', '100.00'])('that is the same, in any spelling, is proven anew: %s', (shown) => {
    expect(compare(carry('100'), seen(shown))).toMatchObject({ gaps: [], notes: [], balances: [{ at: at(0) }] });
  });

  test('that differs is a gap, and the carried one goes on until the window no longer reaches back to it', () => {
    const { gaps, balances } = compare(carry('100'), seen('40'));
    expect(gaps).toEqual([{ currency: 'usd', amount: '-60', after: '100', before: '40', now: true, since: at(24) }]);
    expect(balances).toEqual([...carry('100').values()]);
    const later = compare(carry('100', 80), seen('40'));
    expect(later).toMatchObject({ gaps: [], balances: [fresh('40')] });
    expect(later.notes).toEqual([expect.stringMatching(/^usd: no longer 100 as at .*, --from .* reads it$/)]);
  });

  test('that differs while a short window was asked for is noted, and not forgotten', () => {
    const { gaps, notes, balances } = compare(carry('100'), seen('40'), { fromMs: NOW_MS - HOUR_MS });
    expect([gaps, notes.length, balances]).toEqual([[], 1, [...carry('100').values()]]);
  });

  test('that the service shows no more is empty', () => {
    const nothing = { before: {}, after: {}, books: {} };
    expect(compare(carry('100'), nothing).gaps).toMatchObject([{ amount: '-100', before: '0', now: true }]);
    expect(compare(carry('0'), nothing).gaps).toEqual([]);
  });

  test.each<[string, Read]>([
    ['moves while it is read', { ...seen('40'), after: usd('41') }],
    ['moved between two readings', { ...seen('40'), books: booksOf([change('100', '40')], { until: {} }) }],
    ['was not asked for', { ...seen('40'), untilNow: false }],
    ['could not be read', { books: {} }],
  ])('that %s is compared by the next run', (_, now) => {
    expect(compare(carry('100'), now)).toMatchObject({ gaps: [], balances: [...carry('100').values()] });
  });

  test('that is seen first is noted and carried', () => {
    expect(compare(new Map(), seen('40'))).toMatchObject({
      gaps: [],
      notes: ['no change and no earlier run to compare with: usd'],
      balances: [fresh('40')],
    });
  });
});

describe('a balance with changes', () => {
  const CHANGES = [change('100.0', '70'), change('70', '60')];

  test.each(['100', '70', '60'])('that once was the carried one is proven anew: %s', (amount) => {
    expect(compare(carry(amount), seen('60', CHANGES, amount))).toMatchObject({
      gaps: [],
      notes: [],
      balances: [fresh('60')],
    });
  });

  test('that never was the carried one has moved before them', () => {
    const { gaps } = compare(carry('130'), seen('60', CHANGES, '130'));
    expect(gaps).toEqual([{ currency: 'usd', amount: '-30', after: '130', before: '100', since: at(24) }]);
  });

  test('whose end is not the balance leaves the carried one as it is, and none where there was none', () => {
    const now = seen('55', CHANGES);
    expect(compare(carry('100'), now).balances).toEqual([...carry('100').values()]);
    expect(compare(new Map(), now).balances).toEqual([]);
  });
});
