import { createSecretKey } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { EncryptionKey } from '../../src/config.js';
import { encryptionCodec } from '../../src/temporal/encryption-codec.js';

const key = (id: string, fill = id): EncryptionKey => ({ id, key: createSecretKey(Buffer.alloc(32, fill)) });
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value) as Payload;
const SECRET = { wallet: '4111111111111111' };

const codecOf = (...keys: EncryptionKey[]) => encryptionCodec(keys);
const encrypted = async (plain = payloadOf(SECRET), by = key('a')): Promise<Payload> => {
  const [payload] = await codecOf(by).encode([plain]);
  if (!payload) throw new Error('no payload');
  return payload;
};
const contentOf = ([payload]: Payload[]): unknown => payload && defaultPayloadConverter.fromPayload(payload);

describe('an encrypted payload', () => {
  test('tells its encoding and the id of its key, and nothing of its content or of what that is', async () => {
    const { metadata, data } = await encrypted();
    const shown = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);
    expect(Object.fromEntries(shown)).toEqual({ encoding: 'binary/encrypted', 'encryption-key-id': 'a' });
    expect(Buffer.from(data ?? []).includes('4111')).toBe(false);
    expect(Buffer.from(data ?? []).includes('json/plain')).toBe(false);
  });

  test.for([
    [SECRET],
    ['text'],
    [undefined],
    [null],
    [new Uint8Array([1, 2, 3])],
    ['x'.repeat(100_000)],
    [''],
  ] as const)('comes back as it was', async ([value]) => {
    expect(contentOf(await codecOf(key('a')).decode([await encrypted(payloadOf(value))]))).toEqual(value);
  });

  test('never looks the same twice', async () => {
    const [one, two] = await Promise.all([encrypted(), encrypted()]);
    const iv = ({ data }: Payload) => Buffer.from(data ?? []).subarray(0, 12);
    expect(iv(one).equals(iv(two))).toBe(false);
  });

  test('is read with any of the keys; the first one writes', async () => {
    const rotated = codecOf(key('b'), key('a'));
    expect(contentOf(await rotated.decode([await encrypted()]))).toEqual(SECRET);
    const [written] = await rotated.encode([payloadOf(SECRET)]);
    expect(Buffer.from(written?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('b');
  });
});

describe('what cannot be decrypted is an error that names the key and no content', () => {
  const flipped = async (at: number): Promise<Payload> => {
    const { metadata, data } = await encrypted();
    const bytes = Buffer.from(data ?? []);
    bytes[at < 0 ? bytes.length + at : at] = (bytes.at(at) ?? 0) ^ 1;
    return { metadata, data: bytes };
  };
  const cut = async (length: number): Promise<Payload> => {
    const { metadata, data } = await encrypted();
    return { metadata, data: data?.subarray(0, length) };
  };

  test.for<[string, () => Promise<Payload>]>([
    ['an IV that was changed', () => flipped(0)],
    ['content that was changed', () => flipped(20)],
    ['a tag that was changed', () => flipped(-1)],
    ['a payload cut short', () => cut(40)],
    ['a payload shorter than IV and tag', () => cut(20)],
    ['an empty payload', () => cut(0)],
    ['no data', async () => ({ metadata: (await encrypted()).metadata })],
    ['another key of the same id', () => encrypted(payloadOf(SECRET), key('a', 'z'))],
  ])('%s', async ([, payload]) => {
    await expect(codecOf(key('b'), key('a')).decode([await payload()])).rejects.toMatchObject({
      name: 'PayloadDecryptionError',
      message: 'payload cannot be decrypted with key a: changed, or it is another key',
    });
  });

  test.for<[string, EncryptionKey[]]>([
    ['a key that is not known', [key('b')]],
    ['encryption switched off', []],
  ])('%s', async ([, keys]) => {
    await expect(codecOf(...keys).decode([await encrypted()])).rejects.toMatchObject({
      name: 'PayloadDecryptionError',
      message: 'payload encrypted with key a: not in PAYLOAD_ENCRYPTION_KEYS',
    });
  });

  test('a key id that cannot be one is not repeated', async () => {
    const { metadata, data } = await encrypted();
    const evil = { metadata: { ...metadata, 'encryption-key-id': Buffer.from('x\n4111') }, data };
    await expect(codecOf(key('a')).decode([evil])).rejects.toThrow('key (unreadable id)');
  });
});

describe('plain payloads', () => {
  test('are read as they are, with keys and without', async () => {
    for (const codec of [codecOf(key('a')), codecOf()]) {
      expect(contentOf(await codec.decode([payloadOf(SECRET)]))).toEqual(SECRET);
      // Nobody said what it is: the converters judge it, not the codec.
      expect(await codec.decode([{}])).toEqual([{}]);
    }
  });

  test('are what is written without keys', async () => {
    expect(contentOf(await codecOf().encode([payloadOf(SECRET)]))).toEqual(SECRET);
  });
});
