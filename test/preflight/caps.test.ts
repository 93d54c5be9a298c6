import { expect, test } from 'vitest';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { capFindings } from '../../src/preflight/checks.js';

const balances = { usd: {}, btc: {} } as never;
const rules: PolicyRule[] = [
  { rule: 'sum', per: 'day', currency: 'usd', max: '10', breach: 'park' },
  { rule: 'tier', currency: 'uds', above: '10', approvers: 1 },
  { rule: 'new-payee', currency: 'uds', above: '10', breach: 'park' },
  { rule: 'count', max: 3, breach: 'park' },
];

/** What is found about caps and rules. */
const found = async (config: object, shown: [string, object][] = [['eu', { balances }]]) =>
  (await capFindings({ config: config as never, shown: Promise.resolve(new Map(shown)) })).map(({ text }) => text);

test('a currency that no account has is found in caps and in the rules of every account', async () => {
  const policies = new Map([
    ['us', { rules: rules.slice(0, 1) }],
    ['eu', { rules }],
  ]);
  expect(await found({ caps: new Map([['usd', '1']]), policies })).toEqual([
    'POLICY_FILE names uds, which no account has among its balances. If that is misspelt, the currency that was meant has no limit: correct it',
  ]);
  expect(await found({ caps: new Map([['bct', '1']]), policies })).toHaveLength(2);
});

test('what every account has is in order, and nothing is said while one does not answer', async () => {
  expect(await found({ policies: new Map([['eu', { rules: rules.slice(0, 1) }]]) })).toEqual([]);
  expect(
    await found({ policies: new Map([['eu', { rules }]]) }, [
      ['eu', { balances }],
      ['us', {}],
    ]),
  ).toEqual([]);
});
