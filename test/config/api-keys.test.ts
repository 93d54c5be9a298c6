import { createHash } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, loadApiConfig } from '../../src/config.js';
import { newFolder } from '../support/batch-files.js';

const folder = newFolder(afterAll);

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
const KEY = { name: 'shop', sha256: sha256('a key'), verbs: ['start'] };

function load(content: unknown, env: Record<string, string> = {}, mode = 0o600) {
  const path = join(folder, 'api-keys.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  try {
    return loadApiConfig({ API_KEYS_FILE: path, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('keys are read with their rights; several may share a name', () => {
  const limited = { ...KEY, sha256: sha256('other'), accounts: ['eu'], maxAmount: { usd: '1000' } };
  expect(load([KEY, limited], { API_ADDRESS: '0.0.0.0:8088' })).toMatchObject({
    host: '0.0.0.0',
    port: 8088,
    keys: [
      { name: 'shop', digest: Buffer.from(KEY.sha256, 'hex'), accounts: undefined, maxAmount: undefined },
      { accounts: new Set(['eu']), verbs: new Set(['start']), maxAmount: new Map([['usd', '1000']]) },
    ],
  });
});

test.each([
  ['no list', {}, /expected array/],
  ['an empty list', [], /too small/i],
  ['the same key twice', [KEY, { ...KEY, name: 'b' }], /holds the same key twice/],
  ['a key that people try first', [{ ...KEY, sha256: sha256('changeme') }], /\[0\]\.sha256: is a key that everybody/],
  ['the hash of no key, by echo', [{ ...KEY, sha256: sha256('\n') }], /\[0\]\.sha256: is a key that everybody/],
  ['a key in place of its hash', [{ ...KEY, sha256: 'the-key-itself' }], /\[0\]\.sha256: must be the SHA-256/],
  ['an unknown verb', [{ ...KEY, verbs: ['pay'] }], /\[0\]\.verbs\[0\]/],
  ['no verb', [{ ...KEY, verbs: [] }], /\[0\]\.verbs/],
  ['an amount that is no text', [{ ...KEY, maxAmount: { usd: 5 } }], /maxAmount\.usd/],
  ['an unknown field', [{ ...KEY, account: 'eu' }], /\[0\]\.account: unknown field/],
  ['a name that holds a card number', [{ ...KEY, name: '4111111111111111' }], /\[0\]\.name/],
  ['a field twice', `[{"name": "a", "name": "b"}]`, /twice/],
])('%s is refused, and nothing of it is shown', (_, content, reason) => {
  const problems = load(content) as readonly string[];
  expect(problems.join('\n')).toMatch(reason);
  for (const problem of problems) expect(problem).toMatch(/^API_KEYS_FILE: /);
  expect(problems.join('\n')).not.toMatch(/the-key-itself|4111/);
});

test('a file that others may read is refused', () => {
  expect(load([KEY], {}, 0o644)).toEqual([expect.stringMatching(/^API_KEYS_FILE: may be read or changed/)]);
});

test('without keys it listens on this machine alone', () => {
  expect(loadApiConfig({})).toMatchObject({ host: '127.0.0.1', port: 8088, keys: undefined });
  expect(() => loadApiConfig({ API_ADDRESS: '0.0.0.0:8088' })).toThrow(/^API_KEYS_FILE: is required/);
});

test('a misspelt name does not open the API, and other programs may have settings that begin alike', () => {
  expect(() => loadApiConfig({ API_KEY_FILE: 'x' })).toThrow(/^API_KEY_FILE: is not a setting/);
  expect(loadApiConfig({ API_URL: 'https://other.example' }).keys).toBeUndefined();
});
