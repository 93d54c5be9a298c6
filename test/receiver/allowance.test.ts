import { expect, test } from 'vitest';
import { createAllowance, createWindow } from '../../src/receiver/allowance.js';

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

test('a burst, then one more every interval, full again once it had time to refill', () => {
  const { now, move } = clock();
  const allowance = createAllowance({ burst: 120, intervalMs: INTERVAL_MS }, now);
  expect(count(500, () => allowance.take('a'))).toBe(120);
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

test('in no window of a minute more than the maximum, wherever it begins', () => {
  const { now, move } = clock();
  const window = createWindow({ max: 20, windowMs: MINUTE_MS }, now);
  const takenAtMs: number[] = [];
  for (let step = 0; step < 300; step += 1) {
    for (let n = 0; n < 3; n += 1) if (window.take('a')) takenAtMs.push(now());
    move(1_000);
  }
  const mostInAMinute = Math.max(
    ...takenAtMs.map((from) => takenAtMs.filter((at) => at >= from && at - from < MINUTE_MS).length),
  );
  expect(mostInAMinute).toBe(20);
  expect(takenAtMs.length).toBeGreaterThanOrEqual(5 * 20);
});

test('keys that say nothing any more are forgotten', () => {
  const { now, move } = clock();
  const allowance = createAllowance({ burst: 5, intervalMs: 1_000 }, now);
  const window = createWindow({ max: 5, windowMs: MINUTE_MS }, now);
  for (let n = 0; n < 1_000; n += 1) {
    allowance.take(`key-${n}`);
    window.take(`key-${n}`);
  }
  expect([allowance.size(), window.size()]).toEqual([1_000, 1_000]);
  move(2 * MINUTE_MS);
  allowance.take('one');
  window.take('one');
  expect([allowance.size(), window.size()]).toEqual([1, 1]);
});

test('one key does not use up the allowance of another', () => {
  const allowance = createAllowance({ burst: 1, intervalMs: INTERVAL_MS });
  const window = createWindow({ max: 1, windowMs: MINUTE_MS });
  while (allowance.take('flooded'));
  while (window.take('flooded'));
  expect([allowance.take('other'), window.take('other')]).toEqual([true, true]);
});
