import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { publishedFor } from '../../src/temporal/published.js';
import { APPROVERS_FILE, withFile } from '../support/approvers.js';
import { problemsOf, WORKER_ENV } from './config.fixture.js';

const SUM = { rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' };
const COUNT = { rule: 'count', max: 2, breach: 'park' };
const EXAMPLE_KEY = '9f2c41d07a6be85310c4fd92ab7e6d1853c0a9f417be62d8';
const PAYEE_KEY = '3d7a90be5c1f42688e07d3b94fa1625c0b9e87d2f4613ac5';

const problems = (rules: unknown[], file: object = {}, env: object = {}) =>
  withFile({ accounts: { default: rules }, ...file }, (path) =>
    problemsOf(loadWorkerConfig, { ...WORKER_ENV, POLICY_FILE: path, ...env }),
  );

describe('POLICY_FILE', () => {
  test('of the examples is one that a worker takes, whose key is never shown', () => {
    const config = withFile(readFileSync('examples/policy.json', 'utf8').replace(EXAMPLE_KEY, PAYEE_KEY), (path) =>
      loadWorkerConfig({ ...WORKER_ENV, POLICY_FILE: path }),
    );
    const policy = config.policies?.get('default');
    expect(policy?.rules).toHaveLength(9);
    expect(JSON.stringify(policy)).not.toContain(PAYEE_KEY);
    expect(publishedFor(config, 'default').policy).toMatch(/^[\w-]{8}$/);
    expect(loadWorkerConfig(WORKER_ENV).policies).toBeUndefined();
  });

  test.for<[string, unknown[], RegExp, object?]>([
    ['an amount that is a number', [{ ...SUM, max: 100 }], /accounts\.default\[0\]\.max/],
    ['a currency in capitals', [{ ...SUM, currency: 'USD' }], /currency: must be a currency in lower case/],
    ['another effect', [{ ...SUM, breach: 'warn' }], /breach: must be park or refuse/],
    ['an unknown field', [{ ...SUM, maximum: '1' }], /maximum/],
    ['a rule twice', [SUM, { ...SUM, max: '200' }], /accounts\.default: states a rule twice/],
    ['a rule about payees without a key', [COUNT], /payeeKey: is required/],
    ['payouts compared for too many days', [{ rule: 'paid-before', days: 31 }], /accounts\.default\[0\]\.days/],
    ['payouts compared without a key', [{ rule: 'paid-before', days: 7 }], /payeeKey: is required/],
    ['the key of the example', [COUNT], /payeeKey: is a key that everybody can read/, { payeeKey: EXAMPLE_KEY }],
    ['a key that is easy to guess', [COUNT], /payeeKey: must not be easy to guess/, { payeeKey: 'a'.repeat(40) }],
    [
      'hours that end before they begin',
      [{ rule: 'hours', open: [{ days: ['mon'], from: '18:00', to: '07:00' }], breach: 'park' }],
      /to: must be later than from/,
    ],
    [
      'more approvers than there are',
      [{ rule: 'tier', currency: 'usd', above: '1', approvers: 2 }],
      /a tier needs 2 approvers, and APPROVERS_FILE lets 0 persons decide/,
    ],
  ])('with %s is refused by its field', ([, rules, problem, file]) => {
    expect(problems(rules, file).join('\n')).toMatch(problem);
  });

  test('without an account of the worker is refused, so that a misspelled name loses no rule', () => {
    expect(problems([], { accounts: { defualt: [SUM] } })).toEqual([
      expect.stringContaining('accounts: names no account of this worker (default)'),
    ]);
  });

  test('publishes a digest of its rules and its key, since each key makes other payees', () => {
    const published = (change: object) =>
      withFile({ payeeKey: PAYEE_KEY, accounts: { default: [SUM, COUNT] }, ...change }, (path) =>
        publishedFor(loadWorkerConfig({ ...WORKER_ENV, POLICY_FILE: path }), 'default'),
      ).policy;
    const others = [{ payeeKey: [...PAYEE_KEY].reverse().join('') }, { accounts: { default: [SUM] } }];
    expect(new Set([published({}), published({}), ...others.map(published)]).size).toBe(3);
    expect(published({})).not.toContain(PAYEE_KEY);
  });

  test('takes a tier for as many persons as may decide', () => {
    const tier = (approvers: number) => [{ rule: 'tier', currency: 'usd', above: '1', approvers }];
    withFile(APPROVERS_FILE, (path) => {
      expect(problems(tier(4), {}, { APPROVERS_FILE: path })).toEqual([expect.stringContaining('lets 3 persons')]);
      const load = (policy: string) => loadWorkerConfig({ ...WORKER_ENV, APPROVERS_FILE: path, POLICY_FILE: policy });
      expect(withFile({ accounts: { default: tier(3) } }, load).policies?.size).toBe(1);
    });
  });
});
