import { expect, onTestFinished, test } from 'vitest';
import type { ReconcileResult } from '../../../src/contract/reconcile/reconcile.js';
import { openLab } from '../../support/lab.js';

const SECOND_MS = 1_000;
/** Longer ago than Temporal's list may be behind, so that no order is looked up there by itself. */
const DAYS_AGO_MS = 3 * 86_400_000;
/** Each payout takes its amount and its fee from the balance. */
const CHANGES_EACH = 2;

/** Reconciles payouts that nobody here follows, created evenly over so much time. */
async function reconcilePast(count: number, spanMs: number): Promise<ReconcileResult> {
  const lab = await openLab({ quiet: true, callbacks: false });
  onTestFinished(() => lab.close());
  const fromMs = Math.floor((Date.now() - DAYS_AGO_MS) / SECOND_MS) * SECOND_MS;
  lab.sandbox.addPast({ count, fromMs, toMs: fromMs + spanMs });
  return lab.orders.reconcile({ from: new Date(fromMs).toISOString() });
}

function expectEachOnce({ seen, classes, chains, gapCount }: ReconcileResult, count: number): void {
  expect([seen, classes.foreign, classes.duplicate, gapCount]).toEqual([count, count, 0, 0]);
  expect(chains).toMatchObject([{ currency: 'usd', changes: CHANGES_EACH * count, balance: 'equal' }]);
}

test('orders of every second count once, also those on the edges of windows', async () => {
  const result = await reconcilePast(1_200, 1_200 * SECOND_MS);
  expectEachOnce(result, 1_200);
  expect(result.windows).toBeGreaterThan(1);
  expect(result.notes.filter((note) => note.includes('is full'))).toEqual([]);
});

test('more orders of one second than a page holds count once, and the second is said to be full', async () => {
  const result = await reconcilePast(1_200, SECOND_MS);
  expectEachOnce(result, 1_200);
  expect(result.notes).toContainEqual(expect.stringContaining('is full'));
});

test('exactly a page of orders in each of two seconds count once', async () => {
  expectEachOnce(await reconcilePast(2_000, 2 * SECOND_MS), 2_000);
});
