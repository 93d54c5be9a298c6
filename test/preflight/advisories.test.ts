import { expect, test } from 'vitest';
import { advisoriesOn, FLOOR, isBelow } from '../../src/preflight/advisories.js';

test.for([
  ['1.26.2', ['CVE-2025-14987', 'CVE-2025-14986', 'CVE-2026-5199', 'CVE-2026-5724']],
  ['1.27.4', ['CVE-2026-5199', 'CVE-2026-5724']],
  ['1.28.4', ['CVE-2026-5199']],
  ['1.29.1', ['CVE-2025-14987', 'CVE-2025-14986', 'CVE-2026-5199', 'CVE-2026-5724']],
  ['1.29.5', ['CVE-2026-5724']],
  ['1.29.6', []],
  ['1.30.3', ['CVE-2026-5724']],
  ['1.30.4', []],
  ['1.31.0', []],
  ['1.32.0', []],
] as const)('server %s is open to %j', ([version, ids]) => {
  expect(advisoriesOn(version).map(({ id }) => id)).toEqual(ids);
});

test('no advisory is open on the floor', () => {
  expect(advisoriesOn(FLOOR)).toEqual([]);
});

test.for([
  ['1.30.4', '1.30.4', false],
  ['1.30.3', '1.30.4', true],
  ['1.9.12', '1.30.4', true],
  ['1.31.0-148.4', '1.30.4', false],
  ['2.0.0', '1.30.4', false],
] as const)('%s is older than %s: %s', ([version, other, expected]) => {
  expect(isBelow(version, other)).toBe(expected);
});
