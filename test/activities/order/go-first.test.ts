import { expect, test } from 'vitest';
import { untilAskedAgainMs } from '../../../src/activities/order/go-first.js';

const PACE = {
  pollInitialMs: 5_000,
  pollMaxMs: 300_000,
  settleWindowMs: { atOnce: 600_000, deposit: 600_000 },
  confirmDelayMs: 5_000,
};

test('an order in doubt asks every 10 s, and a few beside it do not change that', () => {
  const account = {};
  for (let n = 0; n < 20; n += 1) {
    const ms = untilAskedAgainMs(account, 'acceptance', PACE);
    expect(ms).toBeGreaterThanOrEqual(9_999);
    expect(ms).toBeLessThan(11_100);
  }
});

test('10,000 orders in doubt ask 20 times a second together, each at another time', () => {
  const account = {};
  const times = Array.from({ length: 10_000 }, () => untilAskedAgainMs(account, 'acceptance', PACE)).sort(
    (one, other) => one - other,
  );
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  expect(10_000 / (spanMs / 1_000)).toBeLessThan(20.5);
  // All have asked before the settle window is over.
  expect(times.at(-1)).toBeLessThan(PACE.settleWindowMs.atOnce);
});

test('who waits to be shown does not hold up who waits for an acceptance', () => {
  const account = {};
  expect(untilAskedAgainMs(account, 'reading', PACE)).toBeGreaterThan(59_000);
  expect(untilAskedAgainMs(account, 'acceptance', PACE)).toBeLessThan(10_100);
});
