import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { loadReceiverConfig, loadWorkerConfig, Secret } from '../../src/config.js';
import { TOKEN_KEY, WORKER_ENV } from './config.fixture.js';

const ENV = { ...WORKER_ENV, CALLBACK_BASE_URL: 'https://hooks.example', CALLBACK_TOKEN_KEY: TOKEN_KEY };
const SECRETS = [WORKER_ENV.PAYMENT_API_KEY, WORKER_ENV.PAYMENT_API_SECRET, TOKEN_KEY];

function logged(value: unknown): string {
  const lines: string[] = [];
  pino({}, { write: (line: string) => void lines.push(line) }).info({ value }, 'config');
  return lines.join('');
}

/** Every way a value reaches a log or an error message by accident. */
const SHOWN: [string, (value: unknown) => string][] = [
  ['inspect, to any depth and with hidden fields', (value) => inspect(value, { depth: null, showHidden: true })],
  ['JSON', (value) => JSON.stringify(value)],
  ['a template string', (value) => `${value}`],
  ['pino', logged],
];

describe.for(SHOWN)('shown by %s', ([, show]) => {
  test.for([
    ['worker', () => loadWorkerConfig(ENV)],
    ['receiver', () => loadReceiverConfig(ENV)],
    ['accounts of the worker', () => Object.fromEntries(loadWorkerConfig(ENV).accounts)],
    ['token keys', () => loadReceiverConfig(ENV).tokenKeys],
    ['secret', () => new Secret(WORKER_ENV.PAYMENT_API_SECRET)],
  ] as const)('the configuration of the %s carries no secret', ([, load]) => {
    const shown = show(load());
    for (const secret of SECRETS) expect(shown).not.toContain(secret);
  });
});

test('a secret reveals itself when asked', () => {
  expect(new Secret('s3cret').reveal()).toBe('s3cret');
  expect(`${new Secret('s3cret')}`).toBe('[secret]');
});

test('token keys compute like any list: what is made of them stays usable', () => {
  expect(loadReceiverConfig(ENV).tokenKeys.map((key) => key.length)).toEqual([TOKEN_KEY.length]);
});
