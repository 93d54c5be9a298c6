import { expect, test } from 'vitest';
import { cachedOrders } from '../../src/worker/accounts.js';

test.for([
  ['512 MB', 512, 609],
  ['less: what fits 512 MB', 256, 600],
  ['1 GB', 1_024, 1_800],
  ['much: no more than 3,000', 4_144, 3_000],
] as const)('a heap of %s keeps so many orders', ([, mib, orders]) => {
  expect(cachedOrders(mib * 2 ** 20)).toBe(orders);
});
