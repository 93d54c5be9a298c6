import { expect, test } from 'vitest';
import { outcomesOf } from '../../src/preflight/checks.js';

const found = (...checks: string[]) => checks.map((check) => ({ check, level: 'error', text: '' }) as const);
const unmade = (...checks: string[]) =>
  [...outcomesOf('W', found(...checks))].filter(([, first]) => first !== undefined);

test('without Temporal nothing is said to be in order that only Temporal tells', () => {
  expect(unmade('temporal')).toEqual([
    ['namespace', 'temporal'],
    ['retention', 'namespace'],
    ['worker-settings', 'namespace'],
    ['search-attributes', 'namespace'],
    ['server', 'temporal'],
    ['order-accounts', 'namespace'],
  ]);
});

test('where an account does not answer, nothing is said to be in order that its balances tell', () => {
  expect(unmade('signed-read')).toEqual(['clock', 'caps', 'shared-wallets'].map((name) => [name, 'signed-read']));
});

test('what found something was made, and so was all where nothing was found', () => {
  expect(unmade('signed-read', 'clock', 'caps').map(([name]) => name)).toEqual(['shared-wallets']);
  expect(unmade()).toEqual([]);
  expect(unmade(...outcomesOf('W', []).keys())).toEqual([]);
});
