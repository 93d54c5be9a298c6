import { createSecretKey } from 'node:crypto';
import { defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { EncryptionKey } from '../../src/config.js';
import { refusedIn } from '../../src/contract/refused.js';
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

describe('what a payload is bound to', () => {
  const ofA: SerializationContext = { type: 'workflow', namespace: 'n', workflowId: 'order:default:a' };
  const activity = (activityId: string): SerializationContext => ({
    ...ofA,
    type: 'activity',
    activityId,
    isLocal: false,
  });
  const bound = async (context: SerializationContext) =>
    (await codecOf(key('a')).encode([payloadOf(SECRET)], context))[0];
  const read = async (payload: Payload | undefined, context?: SerializationContext, required = true) =>
    contentOf(await encryptionCodec([key('a')], { required }).decode([payload ?? {}], context));
  const foreign = { name: 'PayloadDecryptionError', refused: 'foreign' };

  test('stands in its metadata, so that the codec endpoint reads it without being told', async () => {
    const payload = await bound(activity('3'));
    const shown = Buffer.from(payload?.metadata?.['encryption-bound-to'] ?? []).toString();
    expect(JSON.parse(shown)).toEqual({ namespace: 'n', workflowId: 'order:default:a', activityId: '3' });
    expect(await read(payload)).toEqual(SECRET);
  });

  test.for<[string, SerializationContext, SerializationContext]>([
    ['another workflow', ofA, { ...ofA, workflowId: 'order:default:b' }],
    ['another namespace', ofA, { ...ofA, namespace: 'm' }],
    ['another activity', activity('3'), activity('9')],
    ['an activity instead of its workflow', ofA, activity('3')],
    ['a workflow instead of its activity', activity('3'), ofA],
    [
      'an order that looks as if a schedule had started it',
      ofA,
      { ...ofA, workflowId: `${ofA.workflowId}-2026-11-22T10:00:00Z` },
    ],
  ])('is not read by %s, required or not', async ([, written, other]) => {
    const payload = await bound(written);
    expect(await read(payload, written)).toEqual(SECRET);
    await expect(read(payload, other)).rejects.toMatchObject(foreign);
    await expect(read(payload, other, false)).rejects.toMatchObject(foreign);
  });

  test('cannot be changed: the metadata is authenticated', async () => {
    const payload = await bound(ofA);
    const claim = JSON.stringify({ namespace: 'n', workflowId: 'order:default:b' });
    const moved = { ...payload, metadata: { ...payload?.metadata, 'encryption-bound-to': Buffer.from(claim) } };
    const { 'encryption-bound-to': _, ...rest } = payload?.metadata ?? {};
    for (const changed of [moved, { ...payload, metadata: rest }]) {
      await expect(read(changed, { ...ofA, workflowId: 'order:default:b' })).rejects.toThrow('cannot be decrypted');
    }
  });

  test('is the id that a schedule was made with, for the runs that it starts', async () => {
    const made: SerializationContext = { ...ofA, workflowId: 'scheduled:default:aunts' };
    const run = { ...made, workflowId: 'scheduled:default:aunts-2026-11-20T10:00:00Z' };
    expect(await read(await bound(made), run)).toEqual(SECRET);
    await expect(read(await bound(run), made)).rejects.toMatchObject(foreign);
  });

  test('is demanded by `required`: plain payloads and ciphertext for nothing are refused', async () => {
    const unbound = await encrypted();
    expect([await read(unbound, ofA, false), await read(payloadOf(SECRET), ofA, false)]).toEqual([SECRET, SECRET]);
    for (const payload of [unbound, payloadOf(SECRET)]) {
      await expect(read(payload, ofA)).rejects.toMatchObject(foreign);
      await expect(read(payload)).rejects.toMatchObject(foreign);
    }
  });

  test('a worker marks what it refuses, and its other payloads are read', async () => {
    const codec = encryptionCodec([key('a')], { required: true, marks: true });
    const lost = (await codecOf(key('lost')).encode([payloadOf(SECRET)], ofA))[0] as Payload;
    const decoded = await codec.decode([payloadOf(SECRET), lost, (await bound(ofA)) as Payload], ofA);
    expect(decoded.map((payload) => refusedIn(payload)?.kind)).toEqual(['foreign', 'unreadable', undefined]);
    expect(contentOf(decoded.slice(2))).toEqual(SECRET);
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
