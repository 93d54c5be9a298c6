import { expect, test } from 'vitest';
import { createAllowance } from '../../src/http-port/allowance.js';
import { MAX_STARTS_PER_MINUTE, STARTS } from '../../src/receiver/spare-temporal.js';

const MINUTE_MS = 60_000;
const INTERVAL_MS = 10 * MINUTE_MS;

/** A clock that stands until it is moved. */
function clock() {
  let nowMs = 5_000;
  const move = (ms: number): void => {
    nowMs += ms;
  };
  return { now: () => nowMs, move };
}

const count = (attempts: number, take: () => boolean): number =>
  Array.from({ length: attempts }, take).filter(Boolean).length;

test('a burst, then one more every interval, full again once it had time to refill; each key has its own', () => {
  const { now, move } = clock();
  const allowance = createAllowance({ burst: 120, intervalMs: INTERVAL_MS }, now);
  expect(count(500, () => allowance.take('a'))).toBe(120);
  expect(allowance.take('other')).toBe(true);
  move(9 * MINUTE_MS);
  expect(count(5, () => allowance.take('a'))).toBe(0);
  move(1 * MINUTE_MS);
  expect(count(5, () => allowance.take('a'))).toBe(1);
  move(20 * 60 * MINUTE_MS);
  expect(count(500, () => allowance.take('a'))).toBe(120);
});

test('what did not happen may be given back and leaves nothing behind', () => {
  const { now } = clock();
  const allowance = createAllowance({ burst: 2, intervalMs: INTERVAL_MS }, now);
  allowance.take('a');
  allowance.take('a');
  allowance.giveBack('a');
  expect(count(5, () => allowance.take('a'))).toBe(1);
  for (let n = 0; n < 1_000; n += 1) {
    allowance.take(`forged-${n}`);
    allowance.giveBack(`forged-${n}`);
  }
  expect(allowance.size()).toBe(1);
});

test('the callbacks of one address start at most 20 followers in any minute, wherever it begins', () => {
  const { now, move } = clock();
  const starts = createAllowance(STARTS, now);
  const takenAtMs: number[] = [];
  for (let step = 0; step < 300; step += 1) {
    for (let n = 0; n < 30; n += 1) if (starts.take('a')) takenAtMs.push(now());
    move(1_000);
  }
  const mostInAMinute = Math.max(
    ...takenAtMs.map((from) => takenAtMs.filter((at) => at >= from && at - from < MINUTE_MS).length),
  );
  expect(mostInAMinute).toBeLessThanOrEqual(MAX_STARTS_PER_MINUTE);
  expect(mostInAMinute).toBeGreaterThanOrEqual(MAX_STARTS_PER_MINUTE - 1);
  expect(takenAtMs.length).toBeGreaterThanOrEqual(50);
});

test('keys that say nothing any more are forgotten', () => {
  const { now, move } = clock();
  const allowance = createAllowance({ burst: 5, intervalMs: 1_000 }, now);
  for (let n = 0; n < 1_000; n += 1) allowance.take(`key-${n}`);
  expect(allowance.size()).toBe(1_000);
  move(2 * MINUTE_MS);
  allowance.take('one');
  expect(allowance.size()).toBe(1);
});
