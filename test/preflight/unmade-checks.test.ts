import { expect, test } from 'vitest';
import { outcomesOf } from '../../src/preflight/checks.js';

const found = (...checks: string[]) => checks.map((check) => ({ check, level: 'error', text: '' }) as const);
const unmade = (...checks: string[]) => outcomesOf('W', found(...checks)).notChecked;

test('without Temporal nothing is said to be in order that only Temporal tells', () => {
  expect(unmade('temporal')).toEqual({
    namespace: 'temporal',
    retention: 'namespace',
    'worker-settings': 'namespace',
    'search-attributes': 'namespace',
    server: 'temporal',
    stops: 'namespace',
    'order-accounts': 'namespace',
  });
});

test('where an account does not answer, nothing is said to be in order that its balances tell', () => {
  const first = 'signed-read';
  expect(unmade(first)).toEqual({ clock: first, caps: first, 'shared-wallets': first, canary: first });
  expect(unmade(first, 'clock', 'caps')).toEqual({ 'shared-wallets': first, canary: first });
  expect(unmade()).toEqual({});
});
