import { expect, test } from 'vitest';
import { mean, median, percentile, spread, worstWindow } from '../../bench/statistics.js';

test('the median is one of the figures, of an even number the lower one in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2);
  expect(median([10, 9, 100])).toBe(10);
  expect(median([])).toBeNaN();
});

test('a percentile is the figure below which that share lies', () => {
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile(hundred, 1)).toBe(100);
  expect(percentile([7], 0.01)).toBe(7);
});

test('the spread is from the smallest to the largest, by number and not by text', () => {
  expect(spread([9, 10, 2])).toEqual([2, 10]);
});

test('the mean of nothing is not a number', () => {
  expect(mean([1, 2, 6])).toBe(3);
  expect(mean([])).toBeNaN();
});

test('the worst window is found wherever it begins, across whole seconds and in whatever order the times are', () => {
  expect(worstWindow([5_900, 900, 6_100, 1_000, 5_950], 1_000)).toBe(3);
  expect(worstWindow([], 1_000)).toBe(0);
});

test('two points of time a whole span apart are in no window together', () => {
  expect(worstWindow([0, 5_000], 5_000)).toBe(1);
  expect(worstWindow([0, 4_999], 5_000)).toBe(2);
});
