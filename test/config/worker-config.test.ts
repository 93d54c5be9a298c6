import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { problemsOf, TOKEN_KEY, tempFile, WORKER_ENV } from './config.fixture.js';

const problems = (change: Record<string, string | undefined>) =>
  problemsOf(loadWorkerConfig, { ...WORKER_ENV, ...change });

const account = (change: Record<string, string | undefined> = {}) =>
  loadWorkerConfig({ ...WORKER_ENV, ...change }).accounts.get('default');

describe('a complete environment', () => {
  test('gives the account `default` and the documented pace', () => {
    const config = loadWorkerConfig(WORKER_ENV);
    expect([...config.accounts.keys()]).toEqual(['default']);
    expect(account()).toMatchObject({ baseUrl: 'https://pay.example/api', signer: 'hmac-sha256' });
    expect(account()?.apiKey.reveal()).toBe('the-api-key');
    expect(account()?.apiSecret.reveal()).toBe('the-api-secret');
    expect(account()?.requestsPerSecond).toBeUndefined();
    expect(config.callback).toBeUndefined();
    expect(config.pace).toEqual({
      pollInitialMs: 5_000,
      pollMaxMs: 300_000,
      settleWindowMs: { atOnce: 600_000, deposit: 15_000 },
      confirmDelayMs: 600_000,
    });
  });

  test('says which version the process is, where Temporal tells versions apart', () => {
    expect(loadWorkerConfig(WORKER_ENV).version).toBeUndefined();
    const names = { TEMPORAL_DEPLOYMENT_NAME: 'payments/orders', TEMPORAL_WORKER_BUILD_ID: '1.4.0-a1b2' };
    expect(loadWorkerConfig({ ...WORKER_ENV, ...names }).version).toEqual({
      deploymentName: 'payments/orders',
      buildId: '1.4.0-a1b2',
    });
  });

  test('TEMPORAL_RESTORED_AT is read with its zone', () => {
    const { restoredAtMs } = loadWorkerConfig({ ...WORKER_ENV, TEMPORAL_RESTORED_AT: '2026-01-31T09:30:00+01:00' });
    expect(restoredAtMs).toBe(Date.UTC(2026, 0, 31, 8, 30));
  });

  test('ORDER_SETTLE_WINDOW sets both windows', () => {
    const { pace } = loadWorkerConfig({ ...WORKER_ENV, ORDER_SETTLE_WINDOW: '3m' });
    expect(pace.settleWindowMs).toEqual({ atOnce: 180_000, deposit: 180_000 });
  });

  test.for([
    ['250ms', 250],
    ['5s', 5_000],
    ['10m', 600_000],
    ['6h', 21_600_000],
    ['366d', 366 * 86_400_000],
  ] as const)('a duration of %s is %i ms', ([text, ms]) => {
    const env = { ...WORKER_ENV, ORDER_CONFIRM_DELAY: text, ALLOW_SHORT_WINDOWS: 'true' };
    expect(loadWorkerConfig(env).pace.confirmDelayMs).toBe(ms);
  });

  test('callbacks: the first of several keys signs, a trailing slash goes', () => {
    const { callback } = loadWorkerConfig({
      ...WORKER_ENV,
      CALLBACK_BASE_URL: 'https://hooks.example/in/',
      CALLBACK_TOKEN_KEY: `${TOKEN_KEY},${TOKEN_KEY}-old`,
    });
    expect(callback?.baseUrl).toBe('https://hooks.example/in');
    expect([...(callback?.tokenKeys ?? [])]).toEqual([TOKEN_KEY, `${TOKEN_KEY}-old`]);
  });

  test('PAYMENT_REQUESTS_PER_SECOND may have decimals', () => {
    expect(account({ PAYMENT_REQUESTS_PER_SECOND: '2.5' })?.requestsPerSecond).toBe(2.5);
  });

  test('PAYMENT_NOT_EXECUTED_STATUSES is a comma list, and nothing unless it is set', () => {
    expect(account({ PAYMENT_NOT_EXECUTED_STATUSES: '429, 403' })?.notExecutedStatuses).toEqual([429, 403]);
    expect(account()?.notExecutedStatuses).toBeUndefined();
  });

  test('PAYMENT_API_KEY_PREDECESSORS is a comma list, and nothing unless it is set', () => {
    const list = ['0123456789abcdef', 'aaaaaaaaaaaaaaaa'];
    expect(account({ PAYMENT_API_KEY_PREDECESSORS: list.join() })?.apiKeyPredecessors).toEqual(list);
    expect(account({ PAYMENT_API_KEY_PREDECESSORS: list.join(', ') })?.apiKeyPredecessors).toEqual(list);
    expect(account()?.apiKeyPredecessors).toBeUndefined();
  });

  test.for(['http://127.0.0.1:4010', 'http://localhost:4010', 'http://[::1]:4010'])(
    'plain http to %s is fine',
    (url) => {
      expect(account({ PAYMENT_BASE_URL: url })?.baseUrl).toBe(url);
    },
  );

  test.for(['./signers/own.js', '/opt/my signers/own.mjs', 'C:\\signers\\own.js', 'file:///opt/own.js'])(
    'the signer may be the module %s',
    (signer) => expect(account({ PAYMENT_SIGNER: signer })?.signer).toBe(signer),
  );
});

describe('the _FILE variants', () => {
  test.for([
    ['PAYMENT_BASE_URL', 'baseUrl', 'https://elsewhere.example'],
    ['PAYMENT_API_KEY', 'apiKey', 'key-from-file'],
    ['PAYMENT_API_SECRET', 'apiSecret', 'secret-from-file'],
    ['PAYMENT_SIGNER', 'signer', 'hmac-sha512'],
  ] as const)('%s_FILE is read without its last line break', ([name, field, value]) => {
    const read = account({ [name]: undefined, [`${name}_FILE`]: tempFile(`${value}\r\n`) })?.[field];
    expect(typeof read === 'string' ? read : read?.reveal()).toBe(value);
  });

  test('a byte order mark, which some editors write, belongs to no secret and to no settings', () => {
    const key = { PAYMENT_API_KEY: undefined, PAYMENT_API_KEY_FILE: tempFile('\uFEFFkey-from-file\n') };
    expect(account(key)?.apiKey.reveal()).toBe('key-from-file');
    const rules = { accounts: { default: [{ rule: 'sum', per: 'day', currency: 'usd', max: '1', breach: 'park' }] } };
    expect(problems({ POLICY_FILE: tempFile(`\uFEFF${JSON.stringify(rules)}`) })).toEqual([]);
  });

  test.for<[string, Uint8Array]>([
    ['UTF-16, as some shells write it', Buffer.from('\uFEFFkey-from-file', 'utf16le')],
    ['Latin-1', Buffer.from('{"schl\u00fcssel": "zz"}', 'latin1')],
  ])('a file in %s is refused by its encoding', ([, bytes]) => {
    const path = tempFile(bytes);
    const unreadable = 'cannot be read as UTF-8 text';
    expect(problems({ PAYMENT_API_KEY: undefined, PAYMENT_API_KEY_FILE: path })).toEqual([
      `PAYMENT_API_KEY_FILE: ${unreadable}`,
    ]);
    expect(problems({ POLICY_FILE: path })).toEqual([`POLICY_FILE: ${unreadable}`]);
  });

  test.for(Object.keys(WORKER_ENV))('%s and %s_FILE together are a mistake', (name) => {
    const given = problems({ [`${name}_FILE`]: tempFile('https://a.example') });
    expect(given).toContain(`${name}: is given twice: unset ${name} or ${name}_FILE`);
  });

  test.for(Object.keys(WORKER_ENV))('a missing file is named by %s_FILE', (name) => {
    const given = problems({ [name]: undefined, [`${name}_FILE`]: '/nowhere/secret-path' });
    expect(given).toEqual([`${name}_FILE: cannot be read as UTF-8 text`]);
  });

  test.for([
    ['two lines', 'first\nsecond', 'must not contain blanks, line breaks or control characters'],
    ['nothing but a line break', '\n', 'must not be empty'],
  ] as const)('a key file with %s is refused', ([, content, reason]) => {
    const given = problems({ PAYMENT_API_KEY: undefined, PAYMENT_API_KEY_FILE: tempFile(content) });
    expect(given).toEqual([`PAYMENT_API_KEY_FILE: ${reason}`]);
  });
});

const NOT_HTTPS = 'must be https (plain http is allowed to a loopback address only)';
const IN_ASCII =
  'must be in ASCII: write its host as node -p \'new URL("https://…").host\' shows it, such as xn--mnchen-3ya.example';
const RESTORED_AT = 'must be a time that has passed, with its zone, such as 2026-01-31T09:30:00Z';
const DURATION = 'must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d';
const STATUSES = 'must be a status from 401 to 499, but 408 and 409: behind the others a create may have been executed';
const RATE = 'must be a number of requests per second from 0.1 to 1000, such as 20';
const SIGNER = 'must be hmac-sha256, hmac-sha512 or the path of a module';
const UNPRINTABLE = 'must not contain blanks, line breaks or control characters';

/** [variable, value, reason]: one mistake each. */
const MISTAKES: [string, string | undefined, string][] = [
  ...Object.keys(WORKER_ENV).map((name): [string, undefined, string] => [
    name,
    undefined,
    `is required (or ${name}_FILE)`,
  ]),
  ['PAYMENT_API_KEY', 'zzkey\nzz', UNPRINTABLE],
  ['PAYMENT_API_KEY', 'zz key', UNPRINTABLE],
  ['PAYMENT_API_SECRET', 'zzsecret\r\n', UNPRINTABLE],
  ['PAYMENT_API_SECRET', 'zzsécret', UNPRINTABLE],
  ['PAYMENT_BASE_URL', 'pay.zzexample', 'must be a URL'],
  ['PAYMENT_BASE_URL', 'https://pay.zzexample\n', 'must be a URL'],
  ['PAYMENT_BASE_URL', ' https://pay.zzexample', 'must be a URL'],
  ['PAYMENT_BASE_URL', 'https://zz-z\u00e4hlung.example', IN_ASCII],
  ['PAYMENT_BASE_URL', 'https://pay.zzexample\u200b', IN_ASCII],
  ['PAYMENT_BASE_URL', 'http://pay.zzexample', NOT_HTTPS],
  ['PAYMENT_BASE_URL', 'http://127.0.0.1.zzexample', NOT_HTTPS],
  ['PAYMENT_BASE_URL', 'http://10.0.0.1', NOT_HTTPS],
  ['PAYMENT_BASE_URL', 'ftp://pay.zzexample', 'must be an https URL'],
  ['PAYMENT_BASE_URL', 'https://zzuser:zzpassword@pay.example', 'must not carry credentials'],
  ['PAYMENT_BASE_URL', 'https://pay.zzexample/?token=zz', 'must not carry a query or fragment'],
  ['PAYMENT_BASE_URL', 'https://pay.zzexample/api?', 'must not carry a query or fragment'],
  ['PAYMENT_BASE_URL', 'https://pay.zzexample/api#', 'must not carry a query or fragment'],
  ['PAYMENT_SIGNER', 'hmac-sha1', SIGNER],
  ['PAYMENT_SIGNER', './zz\nsigner.js', SIGNER],
  ['PAYMENT_REQUESTS_PER_SECOND', '0', RATE],
  ...[
    '400',
    '200',
    '302',
    '408',
    '409',
    '503',
    '429,500',
    '600',
    '4290',
    '429;503',
    '429,',
    'many',
    '-429',
    '429.0',
  ].map((text): [string, string, string] => ['PAYMENT_NOT_EXECUTED_STATUSES', text, STATUSES]),
  ...['zz', '0123456789ABCDEF', '0123456789abcde', '0123456789abcdef;'].map((text): [string, string, string] => [
    'PAYMENT_API_KEY_PREDECESSORS',
    text,
    'must be as doctor shows it behind # of an account: 16 digits 0-9a-f',
  ]),
  ['PAYMENT_REQUESTS_PER_SECOND', '-1', RATE],
  ['PAYMENT_REQUESTS_PER_SECOND', '1e3', RATE],
  ['PAYMENT_REQUESTS_PER_SECOND', 'zzfast', RATE],
  ['ORDER_POLL_INITIAL', '0s', DURATION],
  ['ORDER_POLL_INITIAL', '7', DURATION],
  ['ORDER_POLL_MAX', '7 m', DURATION],
  ['TEMPORAL_RESTORED_AT', '2020-01-31T09:30:00', RESTORED_AT],
  ['TEMPORAL_RESTORED_AT', '2999-01-31T09:30:00Z', RESTORED_AT],
  ['ORDER_POLL_MAX', '7m\n', DURATION],
  ['ORDER_SETTLE_WINDOW', '-7s', DURATION],
  ['ORDER_SETTLE_WINDOW', '1.7s', DURATION],
  ['ORDER_CONFIRM_DELAY', '367d', DURATION],
  ['ORDER_CONFIRM_DELAY', '999999999d', DURATION],
  ['ORDER_POLL_MAX', '77ms', 'must not be shorter than ORDER_POLL_INITIAL'],
];

test('a version has both of its names, and fitting ones', () => {
  expect(problems({ TEMPORAL_DEPLOYMENT_NAME: 'payments' })).toEqual([
    'TEMPORAL_WORKER_BUILD_ID: is required beside TEMPORAL_DEPLOYMENT_NAME',
  ]);
  expect(problems({ TEMPORAL_WORKER_BUILD_ID: '1' })).toEqual([
    'TEMPORAL_DEPLOYMENT_NAME: is required beside TEMPORAL_WORKER_BUILD_ID',
  ]);
  expect(problems({ TEMPORAL_DEPLOYMENT_NAME: 'a:b', TEMPORAL_WORKER_BUILD_ID: '1:2' })).toEqual([
    'TEMPORAL_DEPLOYMENT_NAME: must match [A-Za-z0-9_/-]{1,200}',
    'TEMPORAL_WORKER_BUILD_ID: must match [A-Za-z0-9._+-]{1,200}',
  ]);
});

describe('a mistake is one line that names the variable and not the value', () => {
  test.for(MISTAKES)('%s = %j', ([name, value, reason]) => {
    expect(problems({ [name]: value })).toEqual([`${name}: ${reason}`]);
  });

  test.for(MISTAKES.filter(([, value]) => value && /zz/.test(value)))('%s = %j is not repeated', ([name, value]) => {
    expect(problems({ [name]: value }).join()).not.toContain('zz');
  });

  test.for([
    ['http://hooks.zzexample', NOT_HTTPS],
    ['https://zzuser@hooks.example', 'must not carry credentials'],
    ['hooks', 'must be a URL'],
    ['https://h\u00f6oks.zzexample', IN_ASCII],
  ] as const)('CALLBACK_BASE_URL = %s', ([url, reason]) => {
    const given = problems({ CALLBACK_BASE_URL: url, CALLBACK_TOKEN_KEY: TOKEN_KEY });
    expect(given).toEqual([`CALLBACK_BASE_URL: ${reason}`]);
  });

  test('all mistakes are told at once, each once', () => {
    const given = problemsOf(loadWorkerConfig, { ORDER_SETTLE_WINDOW: 'soon', ORDER_POLL_MAX: 'late' });
    expect(given.map((line) => line.split(':')[0]).sort()).toEqual([
      'ORDER_POLL_MAX',
      'ORDER_SETTLE_WINDOW',
      ...Object.keys(WORKER_ENV).sort(),
    ]);
  });
});
