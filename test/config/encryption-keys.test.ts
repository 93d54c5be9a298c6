import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadCodecConfig, loadEncryption, loadReceiverConfig } from '../../src/config.js';
import { ENCRYPTION_KEY as KEY, OTHER_ENCRYPTION_KEY as OTHER, problemsOf } from './config.fixture.js';

describe('PAYLOAD_ENCRYPTION_KEYS', () => {
  test('is off when it is not set', () => {
    expect(loadEncryption({})).toEqual({});
  });

  test('keeps the order of its keys', () => {
    const { encryptionKeys: keys } = loadEncryption({ PAYLOAD_ENCRYPTION_KEYS: `2026-11:${KEY},old:${OTHER}` });
    expect(keys?.map(({ id, key }) => [id, key.export().toString('base64')])).toEqual([
      ['2026-11', KEY],
      ['old', OTHER],
    ]);
  });

  test('shows no key when it is printed', () => {
    const keys = loadEncryption({ PAYLOAD_ENCRYPTION_KEYS: `a:${KEY}` });
    for (const shown of [inspect(keys, { depth: 9, showHidden: true }), JSON.stringify(keys), String(keys)]) {
      expect(shown).not.toContain(KEY);
      expect(shown).not.toContain(Buffer.from(KEY, 'base64').toString('hex'));
    }
  });

  const malformed = 'must be a comma list of id:key, each key the base64 of 32 bytes';
  test.for<[string, string, string]>([
    ['a key without an id', KEY, malformed],
    ['an empty id', `:${KEY}`, malformed],
    ['an id with other characters', `a/b:${KEY}`, malformed],
    ['31 bytes', `a:${Buffer.alloc(31).toString('base64')}`, malformed],
    ['33 bytes', `a:${Buffer.alloc(33).toString('base64')}`, malformed],
    ['no base64', `a:${'?'.repeat(43)}=`, malformed],
    ['base64 with bits that mean nothing', `a:${KEY.slice(0, -2)}F=`, malformed],
    ['a stray comma', `a:${KEY},`, malformed],
    ['a blank', `a:${KEY}, b:${OTHER}`, 'must not contain blanks, line breaks or control characters'],
    ['one id twice', `a:${KEY},a:${OTHER}`, 'names the same key id twice'],
  ])('is refused, in one line without its value: %s', ([, value, reason]) => {
    expect(problemsOf(loadEncryption, { PAYLOAD_ENCRYPTION_KEYS: value })).toEqual([
      `PAYLOAD_ENCRYPTION_KEYS: ${reason}`,
    ]);
  });

  test('is checked with the rest of a process’s configuration', () => {
    expect(problemsOf(loadReceiverConfig, { PAYLOAD_ENCRYPTION_KEYS: 'x' })).toEqual([
      'CALLBACK_TOKEN_KEY: is required (or CALLBACK_TOKEN_KEY_FILE)',
      `PAYLOAD_ENCRYPTION_KEYS: ${malformed}`,
    ]);
  });
});

describe('the codec endpoint', () => {
  const env = { PAYLOAD_ENCRYPTION_KEYS: `a:${KEY}` };

  test('listens on the loopback address, for no web page, unless told otherwise', () => {
    expect(loadCodecConfig(env)).toMatchObject({ host: '127.0.0.1', port: 8081, uiOrigin: undefined });
    const told = {
      ...env,
      CODEC_ADDRESS: '0.0.0.0:1',
      CODEC_TOKEN: 'a-token-of-the-codec',
      TEMPORAL_UI_URL: 'http://localhost:8233/ui/',
    };
    expect(loadCodecConfig(told)).toMatchObject({ host: '0.0.0.0', port: 1, uiOrigin: 'http://localhost:8233' });
  });

  test('needs keys', () => {
    expect(problemsOf(loadCodecConfig, {})).toEqual([
      'PAYLOAD_ENCRYPTION_KEYS: is required (or PAYLOAD_ENCRYPTION_KEYS_FILE)',
    ]);
  });

  test.for(['https://ui.example.com/?a=1', 'https://me@ui.example.com', 'ui.example.com', '*', 'null', 'ftp://x'])(
    'refuses the address %s, which is no web page’s',
    (uiOrigin) => {
      expect(problemsOf(loadCodecConfig, { ...env, TEMPORAL_UI_URL: uiOrigin })).toEqual([
        'TEMPORAL_UI_URL: must be the URL of the Temporal UI, such as https://temporal.example.com',
      ]);
    },
  );
});

test('the address of a page must be in ASCII, as browsers send it', () => {
  const env = { PAYLOAD_ENCRYPTION_KEYS: `a:${KEY}`, TEMPORAL_UI_URL: 'https://b\u00fcro.example' };
  expect(problemsOf(loadCodecConfig, env)).toEqual([expect.stringContaining('TEMPORAL_UI_URL: must be in ASCII')]);
});

describe('PAYLOAD_ENCRYPTION', () => {
  const KEYS = { PAYLOAD_ENCRYPTION_KEYS: `a:${KEY}` };

  test('is on with keys, and required only where it says so', () => {
    expect(loadEncryption(KEYS)).not.toHaveProperty('encryptionRequired');
    expect(loadEncryption({ ...KEYS, PAYLOAD_ENCRYPTION: 'on' })).not.toHaveProperty('encryptionRequired');
    expect(loadEncryption({ ...KEYS, PAYLOAD_ENCRYPTION: 'required' })).toHaveProperty('encryptionRequired', true);
    expect(loadEncryption({ PAYLOAD_ENCRYPTION: 'off' })).toEqual({});
  });

  test.for<[Record<string, string>, string]>([
    [{ PAYLOAD_ENCRYPTION: 'required' }, 'required needs PAYLOAD_ENCRYPTION_KEYS (or PAYLOAD_ENCRYPTION_KEYS_FILE)'],
    [{ PAYLOAD_ENCRYPTION: 'on' }, 'on needs PAYLOAD_ENCRYPTION_KEYS (or PAYLOAD_ENCRYPTION_KEYS_FILE)'],
    [{ ...KEYS, PAYLOAD_ENCRYPTION: 'off' }, 'off contradicts PAYLOAD_ENCRYPTION_KEYS: unset one of them'],
    [{ ...KEYS, PAYLOAD_ENCRYPTION: '' }, 'is set but empty: give it a value, or unset it'],
    [{ ...KEYS, PAYLOAD_ENCRYPTION: 'Required' }, 'must be off or on or required'],
  ])('a word that the keys contradict is a mistake: %o', ([env, problem]) => {
    expect(problemsOf(loadEncryption, env)).toContain(`PAYLOAD_ENCRYPTION: ${problem}`);
  });
});
