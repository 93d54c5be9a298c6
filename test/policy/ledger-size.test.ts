import { expect, test } from 'vitest';
import {
  judge,
  MOST_MADE,
  openLedger,
  type PolicyQuestion,
  reserveOrder,
  type Spend,
  settle,
} from '../../src/contract/policy/ledger.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 27);
const KEYS = 18_000;
const ASKED = 51;

/** Sums with so many compared payouts, one each second. */
function ledgerOf(sameOf: (n: number) => string) {
  const ledger = openLedger();
  for (let n = KEYS - 1; n >= 0; n -= 1) {
    const orderId = `order-${n}`;
    const spends: Spend[] = [[`= ${sameOf(n)} ${orderId}`, '1']];
    reserveOrder(ledger, orderId, spends, NOW_MS - n * 1_000);
    settle(ledger, { orderId, spends });
  }
  return ledger;
}

/** Returns the median time of a call in ms: a busy machine makes single ones slow. */
function medianMs(call: (n: number) => unknown): number {
  const times = Array.from({ length: ASKED }, (_, n) => {
    const begunMs = performance.now();
    call(n);
    return performance.now() - begunMs;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(ASKED / 2)] ?? Number.POSITIVE_INFINITY;
}

const question = (...same: string[]): PolicyQuestion => ({
  ...{ orderId: 'asks', spends: [], reserve: false },
  limits: [{ same, windowMs: 168 * HOUR_MS }],
});

test('a question about earlier payouts takes at most 1 ms beside 18,000 other payouts', () => {
  const ledger = ledgerOf((n) => `payee${n}:5:usd`);
  expect(judge(ledger, question('payee7:5:usd'), NOW_MS)).toMatchObject([{ made: [{ 1: 'order-7' }] }]);
  expect(medianMs((n) => judge(ledger, question(`payee${n * 7}:5:usd`), NOW_MS))).toBeLessThanOrEqual(1);
});

test('neither time nor answer grow with the equal payouts to one payee, and what is not shown is reported', () => {
  const ledger = ledgerOf(() => 'payee:5:usd');
  const [answer] = judge(ledger, question('payee:5:usd', 'other:5:usd'), NOW_MS);
  const newest = Array.from({ length: MOST_MADE }, (_, n) => `order-${n}`);
  expect(new Set(answer?.made?.map(([, orderId]) => orderId))).toEqual(new Set(newest));
  expect(answer?.lostUntilMs).toBeGreaterThan(NOW_MS - HOUR_MS);
  expect(medianMs(() => judge(ledger, question('payee:5:usd'), NOW_MS))).toBeLessThanOrEqual(1);
});
