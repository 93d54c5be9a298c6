import { describe, expect, test } from 'vitest';
import { chainsOf } from '../../../src/activities/reconcile/balance-chain.js';
import { spelled } from '../../../src/activities/reconcile/balance-fold.js';
import { type BalancesNow, compareCarried } from '../../../src/activities/reconcile/carried-balances.js';
import type { CarriedBalance } from '../../../src/contract/reconcile/reconcile.js';
import type { BalanceChange } from '../../../src/contract/service-objects.js';
import { foldOf } from './cases.fixture.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
/** As a run looks back by default. */
const WINDOW = { fromMs: NOW_MS - 72 * HOUR_MS };
const at = (hoursAgo: number): string => new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString();

const carry = (amount: string, hoursAgo = 24) => new Map([['usd', { currency: 'usd', amount, at: at(hoursAgo) }]]);

const change = (before: string, after: string): BalanceChange => ({
  currency: 'usd',
  amount_before: before,
  amount_change: `${Number(after) - Number(before)}`,
  amount_after: after,
  created_at: '2026-11-22 09:00:00',
});

/** `carried`: what the changes are held against. */
function seen(
  shown: string | undefined,
  changes: BalanceChange[] = [],
  open: string[] = [],
  carried = '100',
): BalancesNow {
  const { currencies } = foldOf(changes, { carried: new Map([['usd', spelled(carried)]]) });
  return {
    chains: chainsOf(currencies),
    passing: new Set(currencies.usd?.passesCarried ? ['usd'] : []),
    shown: new Map(shown === undefined ? [] : [['usd', shown]]),
    known: new Set(['usd']),
    open: new Set(open),
  };
}

const compare = (carried: ReadonlyMap<string, CarriedBalance>, now: BalancesNow | undefined, window = WINDOW) =>
  compareCarried(carried, now, window, NOW_MS);

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
    const nothing = { ...seen(undefined), known: new Set<string>() };
    expect(compare(carry('100'), nothing).gaps).toMatchObject([{ amount: '-100', before: '0', now: true }]);
    expect(compare(carry('0'), nothing).gaps).toEqual([]);
  });

  test.each([
    ['moves while it is read', seen(undefined)],
    ['moved between two scans', seen('40', [], ['usd'])],
    ['could not be read, or was not asked for', undefined],
  ])('that %s is compared by the next run', (_, now) => {
    expect(compare(carry('100'), now)).toEqual({ gaps: [], notes: [], balances: [...carry('100').values()] });
  });

  test('that is seen first is noted and carried', () => {
    expect(compare(new Map(), seen('40'))).toEqual({
      gaps: [],
      notes: ['no change and no earlier run to compare with: usd'],
      balances: [fresh('40')],
    });
  });
});

describe('a balance with changes', () => {
  const CHANGES = [change('100.0', '70'), change('70', '60')];

  test.each(['100', '70', '60'])('that once was the carried one is proven anew: %s', (amount) => {
    expect(compare(carry(amount), seen('60', CHANGES, [], amount))).toEqual({
      gaps: [],
      notes: [],
      balances: [fresh('60')],
    });
  });

  test('that never was the carried one has moved before them', () => {
    const { gaps } = compare(carry('130'), seen('60', CHANGES, [], '130'));
    expect(gaps).toEqual([{ currency: 'usd', amount: '-30', after: '130', before: '100', since: at(24) }]);
  });

  test('whose end is not the balance leaves the carried one as it is, and none where there was none', () => {
    const now = seen('55', CHANGES, ['usd']);
    expect(compare(carry('100'), now).balances).toEqual([...carry('100').values()]);
    expect(compare(new Map(), now).balances).toEqual([]);
  });
});
