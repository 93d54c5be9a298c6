import { describe, expect, test } from 'vitest';
import { prove as proveRead } from '../../../src/activities/reconcile/prove.js';
import { ServiceView } from '../../../src/activities/reconcile/scan.js';
import { type BalanceBook, emptyTotals } from '../../../src/contract/reconcile/days.js';
import type { Balance, BalanceChange, OrderListItem } from '../../../src/contract/service-objects.js';
import { booksOf, seenOrder, TASK, usdBalance, usdChange } from './cases.fixture.js';

const input = { untilNow: true };

/** What is proven of books; `balances`: before and after the orders are read. */
const prove = (
  books: Record<string, BalanceBook>,
  balances: { before?: Balance; after?: Balance } | undefined,
  { untilNow }: { untilNow: boolean },
) => {
  const [before, after] = [balances?.before, balances?.after].map((usd) => usd && { usd });
  const totals = { ...emptyTotals(), books };
  return proveRead({ ...TASK, untilNow, atMs: 1, carried: [], totals, ...(before && { before }) }, after);
};

const at = (hour: number): string => `2026-11-20 ${String(hour).padStart(2, '0')}:00:00`;

const change = (hour: number, before: number, after: number) => usdChange(at(hour), `${before}`, `${after}`);

/** A view of orders with one change each. */
function viewOf(changes: readonly BalanceChange[]): ServiceView {
  const view = new ServiceView();
  const items = changes.map((one, n) => ({ ...seenOrder({ order_uuid: `uuid-${n}` }), balance_changes: [one] }));
  view.take({ items: items as OrderListItem[], malformed: [], total: items.length }, 'window 1');
  return view;
}

const usd = usdBalance;
const quiet = (amount: string, overdraft?: string) => ({
  before: usd(amount, overdraft),
  after: usd(amount, overdraft),
});

const CHAIN = [change(1, 100, 90), change(2, 90, 70), change(3, 70, 75)];

describe('the end of the balance changes', () => {
  test.each([
    ['equals the balance', quiet('75.00'), 'equal'],
    ['is not the balance', quiet('60'), 'differs'],
    ['moves while it is looked at', { before: usd('75'), after: usd('70') }, 'moving'],
    ['has no balance to compare with', undefined, 'not compared'],
  ])('%s', (_, balances, expected) => {
    const { chains } = prove(booksOf(CHAIN), balances, input);
    expect(chains).toEqual([{ currency: 'usd', changes: 3, start: '100', end: '75', gaps: 0, balance: expected }]);
  });

  test('that is not the balance is a gap up to now', () => {
    const { gaps } = prove(booksOf(CHAIN), quiet('60'), input);
    expect(gaps).toEqual([{ currency: 'usd', amount: '-15', after: '75', before: '60', now: true }]);
  });

  test('below zero is a debt', () => {
    expect(prove(booksOf([change(1, 5, -7)]), quiet('0', '7'), input).chains).toMatchObject([{ balance: 'equal' }]);
  });

  test('is not compared with the balance of now for a window of the past', () => {
    const { gaps, chains } = prove(booksOf(CHAIN), quiet('60'), { untilNow: false });
    expect([gaps, chains[0]?.balance]).toEqual([[], 'not compared']);
  });
});

test('changes outside the window are left out: those between them and it were not asked for', () => {
  const early = { ...change(1, 500, 400), created_at: '2026-11-19 20:00:00' };
  const late = { ...change(1, 10, 5), created_at: '2026-11-21 01:00:00' };
  const window = { from: '2026-11-20 00:00:00', to: '2026-11-21 00:00:00' };
  expect(prove(booksOf([early, ...CHAIN, late], window), undefined, { untilNow: false }).gaps).toEqual([]);
  expect(prove(booksOf([early, ...CHAIN, late]), undefined, { untilNow: false }).gaps).toHaveLength(1);
});

describe('a second scan', () => {
  const tooEarly = booksOf(CHAIN.filter((_, n) => n !== 1));
  const first = prove(tooEarly, undefined, input);
  const until = { usd: tooEarly.usd?.last.at ?? '' };

  test('closes a gap of an order that was only read too early', () => {
    expect(first.gaps).toMatchObject([{ amount: '-20' }]);
    expect(prove(booksOf(CHAIN, { until }), undefined, input).gaps).toEqual([]);
  });

  test('leaves out what moved since the first, and keeps what is missing since before', () => {
    const since = [change(5, 75, 60), change(6, 20, 10)];
    const second = booksOf([...CHAIN.filter((_, n) => n !== 1), ...since], { until });
    const { gaps, chains } = prove(second, quiet('10'), input);
    expect(gaps).toEqual(first.gaps);
    expect(chains).toMatchObject([{ end: '75', balance: 'moving' }]);
  });
});

describe('a view of the order list', () => {
  test('tells where a malformed item stands', () => {
    const view = new ServiceView();
    view.take({ items: [], malformed: [{ index: 2, reason: 'order_uuid: required' }], total: 7 }, 'window 1');
    expect(view.malformed).toEqual([{ place: 'window 1, item 3 of 7', reason: 'order_uuid: required' }]);
  });

  test('tells which balance change does not add up', () => {
    const view = viewOf([{ ...change(1, 100, 90), amount_change: '-9' }]);
    expect(view.malformed).toMatchObject([{ place: 'order uuid-0, balance change 1 of 1' }]);
  });

  test('names a balance change without a date', () => {
    const view = viewOf([{ ...change(1, 100, 90), created_at: '' }]);
    expect(view.malformed).toMatchObject([{ reason: 'created_at is no date that can be read' }]);
  });

  test('keeps an order once, as it was read last', () => {
    const view = viewOf([change(1, 1, 2)]);
    const again = { ...seenOrder({ order_uuid: 'uuid-0', status: 'error' }), balance_changes: [] };
    view.take({ items: [again as unknown as OrderListItem], malformed: [], total: 1 }, 'window 2');
    expect([...view.orders.values()]).toMatchObject([{ status: 'error' }]);
    expect(view.uuidsById.get('order-1')?.size).toBe(1);
  });
});
