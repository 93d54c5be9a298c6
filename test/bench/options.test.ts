import { expect, test } from 'vitest';
import { readOptions } from '../../bench/options.js';

const PARTS = [
  { name: 'orders', about: '' },
  { name: 'batches', about: '' },
];

test('sizes are the usual ones, those of --full, or as given', () => {
  expect(readOptions([], PARTS)).toMatchObject({ rounds: 3, limits: [8, 20, 40, 0], seed: '1' });
  expect(readOptions(['--full'], PARTS)).toMatchObject({ orders: 300, rows: 1_000, growth: [300, 1_000, 4_000] });
  expect(readOptions(['--full', '--limits', '40,none', '--rounds', '5'], PARTS)).toMatchObject({
    ...{ limits: [40, 0], rounds: 5, rows: 1_000 },
  });
});

test('parts are named by --only', () => {
  expect(readOptions(['--only', 'batches, orders'], PARTS).only).toEqual(['batches', 'orders']);
});
