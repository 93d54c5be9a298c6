import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { problemsOf, tempFile, WORKER_ENV } from './config.fixture.js';

const CANARY = { currency: 'usd', network: 'card', amount: '1', countsFor: ['withdraw'] };
const ENTRY = { baseUrl: 'https://pay.example/', apiKey: 'zz-key', apiSecret: 'zz-secret', signer: 'hmac-sha512' };

const problems = (content: unknown) =>
  problemsOf(loadWorkerConfig, {
    PAYMENT_ACCOUNTS_FILE: tempFile(typeof content === 'string' ? content : JSON.stringify(content)),
  });

test('examples/accounts.json can be used, once nobody else may read it', () => {
  const file = tempFile(readFileSync('examples/accounts.json', 'utf8'));
  const { accounts } = loadWorkerConfig({ PAYMENT_ACCOUNTS_FILE: file });
  expect([...accounts.keys()]).toEqual(['default', 'eu']);
});

describe('PAYMENT_ACCOUNTS_FILE', () => {
  test('gives every account its own service, keys and limit', () => {
    const { apiKey: _key, apiSecret: _secret, ...entry } = ENTRY;
    const file = tempFile(
      JSON.stringify({
        eu: { ...entry, apiKeyFile: tempFile('eu-key\n'), apiSecretFile: tempFile('eu-secret'), requestsPerSecond: 20 },
        us: { ...ENTRY, baseUrl: 'http://127.0.0.1:4010' },
      }),
    );
    const { accounts } = loadWorkerConfig({ PAYMENT_ACCOUNTS_FILE: file });
    expect([...accounts.keys()]).toEqual(['eu', 'us']);
    expect(accounts.get('eu')).toMatchObject({ name: 'eu', baseUrl: 'https://pay.example', requestsPerSecond: 20 });
    expect(accounts.get('eu')?.apiKey.reveal()).toBe('eu-key');
    expect(accounts.get('eu')?.apiSecret.reveal()).toBe('eu-secret');
    expect(accounts.get('us')?.apiKey.reveal()).toBe('zz-key');
    expect(accounts.get('us')?.requestsPerSecond).toBeUndefined();
  });

  test.for<[string, unknown, string | RegExp]>([
    ['no JSON', '{zz', /^is not JSON at position/],
    ['a list', [ENTRY], 'input: expected record, received array'],
    ['no account', {}, 'names no account'],
    ['a bad account name', { 'EU Bank': ENTRY }, 'EU Bank: account names are [a-z0-9-]{1,32}'],
    ['a field with a typing error', { eu: { ...ENTRY, apikey: 'zz' } }, 'eu.apikey: unknown field'],
    ['an http base URL', { eu: { ...ENTRY, baseUrl: 'http://zz.example' } }, /^eu\.baseUrl: must be https/],
    [
      'credentials in the base URL',
      { eu: { ...ENTRY, baseUrl: 'https://zz:zz@a.example' } },
      'eu.baseUrl: must not carry credentials',
    ],
    ['an unknown signer', { eu: { ...ENTRY, signer: 'zz' } }, /^eu\.signer: must be hmac-sha256, hmac-sha512 or/],
    ['no signer', { eu: { ...ENTRY, signer: undefined } }, 'eu.signer: required'],
    ['no secret', { eu: { ...ENTRY, apiSecret: undefined } }, 'eu.apiSecret is required (or eu.apiSecretFile)'],
    [
      'a key twice',
      { eu: { ...ENTRY, apiKeyFile: '/zz' } },
      'eu.apiKey is given twice: leave out apiKey or apiKeyFile',
    ],
    [
      'a key file that is missing',
      { eu: { ...ENTRY, apiKey: undefined, apiKeyFile: '/zz' } },
      'eu.apiKey (file) cannot be read as UTF-8 text',
    ],
    ['an empty key', { eu: { ...ENTRY, apiKey: '' } }, 'eu.apiKey must not be empty'],
    ['a key of two lines', { eu: { ...ENTRY, apiKey: 'zz\nzz' } }, /^eu\.apiKey must not contain blanks/],
    [
      'a limit of 0',
      { eu: { ...ENTRY, requestsPerSecond: 0 } },
      /^eu\.requestsPerSecond: must be .* from 0\.1 to 1000/,
    ],
    [
      'a status that means something else',
      { eu: { ...ENTRY, notExecutedStatuses: [429, 400] } },
      /^eu\.notExecutedStatuses\[1\]: must be a status/,
    ],
    [
      'a predecessor that is no fingerprint',
      { eu: { ...ENTRY, apiKeyPredecessors: ['0123456789abcdef', 'zz'] } },
      /^eu\.apiKeyPredecessors\[1\]: must be as doctor shows it/,
    ],
    ['rules that are no word', { eu: { ...ENTRY, formatChecks: 'zz' } }, /^eu\.formatChecks: /],
    [
      'a canary without an amount',
      { eu: { ...ENTRY, canary: { ...CANARY, amount: undefined } } },
      /^eu\.canary\.amount: must be as/,
    ],
    [
      'a canary for a deposit type',
      { eu: { ...ENTRY, canary: { ...CANARY, countsFor: ['deposit'] } } },
      /^eu\.canary\.countsFor\[0\]: must be/,
    ],
    ['a canary with a number', { eu: { ...ENTRY, canary: { ...CANARY, amount: 1 } } }, /^eu\.canary\.amount: must be/],
    [
      'a canary that names a type twice',
      { eu: { ...ENTRY, canary: { ...CANARY, countsFor: ['withdraw', 'withdraw'] } } },
      /^eu\.canary\.countsFor: names a type twice/,
    ],
    ['statuses as text', { eu: { ...ENTRY, notExecutedStatuses: '429' } }, /^eu\.notExecutedStatuses: expected array/],
    ['a limit as text', { eu: { ...ENTRY, requestsPerSecond: 'zz' } }, /^eu\.requestsPerSecond: expected number/],
  ])('%s is one line that shows no value', ([, content, reason]) => {
    const given = problems(content);
    expect(given).toHaveLength(1);
    const [line = ''] = given;
    expect(line).toMatch(/^PAYMENT_ACCOUNTS_FILE: /);
    expect(line.slice('PAYMENT_ACCOUNTS_FILE: '.length)).toEqual(
      typeof reason === 'string' ? reason : expect.stringMatching(reason),
    );
    expect(line).not.toContain('zz');
  });

  test('one key under two names is a mistake that names both, and not the key', () => {
    const us = { ...ENTRY, baseUrl: 'https://other.example', apiKey: undefined, apiKeyFile: tempFile('zz-key\n') };
    expect(problems({ eu: ENTRY, us, asia: { ...ENTRY, apiKey: 'other-key' } })).toEqual([
      'PAYMENT_ACCOUNTS_FILE: eu and us have the same apiKey: one name per account',
    ]);
  });

  test('a file that is missing is a mistake', () => {
    const given = problemsOf(loadWorkerConfig, { PAYMENT_ACCOUNTS_FILE: '/nowhere/zz' });
    expect(given).toEqual(['PAYMENT_ACCOUNTS_FILE: cannot be read as UTF-8 text']);
  });

  test('the mistakes of several accounts are told at once', () => {
    const given = problems({ eu: { ...ENTRY, apiKey: '' }, us: { ...ENTRY, apiSecret: '' } });
    expect(given).toEqual([
      'PAYMENT_ACCOUNTS_FILE: eu.apiKey must not be empty',
      'PAYMENT_ACCOUNTS_FILE: us.apiSecret must not be empty',
    ]);
  });

  test.for([
    ...Object.keys(WORKER_ENV),
    'PAYMENT_API_KEY_FILE',
    'PAYMENT_REQUESTS_PER_SECOND',
    'PAYMENT_NOT_EXECUTED_STATUSES',
    'PAYMENT_API_KEY_PREDECESSORS',
  ])('next to it %s is a mistake and not ignored', (name) => {
    const file = tempFile(JSON.stringify({ eu: ENTRY }));
    const given = problemsOf(loadWorkerConfig, { PAYMENT_ACCOUNTS_FILE: file, [name]: '20' });
    expect(given).toEqual([`${name}: cannot be combined with PAYMENT_ACCOUNTS_FILE: use one of them`]);
  });
});
