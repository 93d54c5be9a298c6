import { expect, test } from 'vitest';
import { decideOne } from '../../src/contract/attention.js';

test('the order that most others follow is named, and those that follow none are counted apart', () => {
  const alike = ['roll-0001', 'roll-0002', 'roll-0003'];
  expect(decideOne(alike)).toMatch(/^Decide roll-0001 first, .*: 2 more follow/);
  expect(decideOne(alike)).not.toContain('of their own');
  // The first one listed is followed by none.
  const mixed = ['p1', '4711', 'INV_77.1', ...alike];
  expect(decideOne(mixed)).toMatch(
    /^Decide roll-0001 first, .*: 3 more follow .*; the other 2 have ids of another form/,
  );
  expect(decideOne(['4711', 'INV_77.1'])).toBeUndefined();
  expect(decideOne(['one-of-one'])).toBeUndefined();
});
