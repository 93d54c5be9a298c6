import { expect, test } from 'vitest';
import { LineIndex } from '../../src/activities/batch/plan/line-index.js';

const ROWS = 50_000;

test('every key is found again with its first line and word, however many there are', () => {
  const index = new LineIndex();
  for (let line = 1; line <= ROWS; line += 1) expect(index.first(`key-${line}`, line, line % 7)).toBeUndefined();
  for (let line = 1; line <= ROWS; line += 1) {
    expect(index.first(`key-${line}`, line + ROWS, 9)).toEqual({ line, word: line % 7 });
  }
});

test('a word of 32 bits comes back as it was', () => {
  const index = new LineIndex();
  index.first('a', 1, 0xffffffff);
  expect(index.first('a', 2)).toEqual({ line: 1, word: 0xffffffff });
});
