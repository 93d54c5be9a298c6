import { createSecretKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCodec } from '../../src/codec/server.js';
import type { Port } from '../../src/http-port/port.js';

const UI = 'https://temporal.example.com';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const PLAIN = { metadata: { encoding: base64('json/plain') }, data: base64('"4111111111111111"') };

let codec: Port;
beforeAll(async () => {
  const encryptionKeys = [{ id: 'a', key: createSecretKey(Buffer.alloc(32, 1)) }];
  codec = await startCodec({ host: '127.0.0.1', port: 0, encryptionKeys, uiOrigin: UI });
});
afterAll(() => codec?.close());

async function ask(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${codec.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

describe('the codec endpoint', () => {
  test('encodes into ciphertext and decodes back, in the JSON form of the protocol', async () => {
    const { body: encoded } = await ask('/encode', { payloads: [PLAIN, PLAIN] });
    expect(encoded).toMatchObject({
      payloads: Array(2).fill({
        metadata: { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('a') },
      }),
    });
    expect(JSON.stringify(encoded)).not.toContain(PLAIN.data);
    expect((await ask('/decode', encoded)).body).toEqual({ payloads: [PLAIN, PLAIN] });
  });

  test('shows plain payloads as they are', async () => {
    expect((await ask('/decode', { payloads: [PLAIN] })).body).toEqual({ payloads: [PLAIN] });
  });

  test('takes the payloads of a long history at once', async () => {
    const large = { ...PLAIN, data: base64(`"${'x'.repeat(2_000_000)}"`) };
    expect((await ask('/decode', { payloads: [large, large] })).status).toBe(200);
  });

  test('refuses a body of many payloads at once, and one more than 1,000', async () => {
    const beganAtMs = performance.now();
    const many = Array.from({ length: 349_525 }, () => ({}));
    expect(await ask('/decode', { payloads: many })).toMatchObject({
      status: 413,
      body: { message: 'more than 1000 payloads' },
    });
    const nested = `{"payloads":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    for (const body of [nested, `{"payloads":[${'1,'.repeat(500_000)}1]}`])
      expect((await ask('/decode', body)).status).toBe(413);
    expect(performance.now() - beganAtMs).toBeLessThan(1_000);
    expect((await ask('/encode', { payloads: many.slice(0, 1_001) })).status).toBe(413);
    expect((await ask('/encode', { payloads: many.slice(0, 1_000) })).status).toBe(200);
  });

  test.for<[string, unknown, string]>([
    [
      'what another key encrypted',
      { payloads: [{ metadata: { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('b') } }] },
      'payload encrypted with key b: not in PAYLOAD_ENCRYPTION_KEYS',
    ],
    ['a body of another shape', { payloads: ['x4111'] }, 'must be {"payloads": […]} in the JSON form of the protocol'],
    ['a body that is no JSON', '{"x4111', 'must be {"payloads": […]} in the JSON form of the protocol'],
  ])('answers 400 without quoting it: %s', async ([, body, message]) => {
    expect(await ask('/decode', body)).toMatchObject({ status: 400, body: { message } });
  });
});

describe('web pages', () => {
  test('of the configured origin may ask', async () => {
    const preflight = await fetch(`${codec.url}/decode`, {
      method: 'OPTIONS',
      headers: {
        origin: UI,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(UI);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-namespace');
    const { status, headers } = await ask('/decode', { payloads: [PLAIN] }, { origin: UI });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe(UI);
  });

  test.for(['https://evil.example', 'null', `${UI}.evil.example`])('of %s are refused', async (origin) => {
    const { status, headers, body } = await ask('/decode', { payloads: [PLAIN] }, { origin });
    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(body).not.toHaveProperty('payloads');
  });

  test('cannot ask in a way that browsers allow without asking first', async () => {
    const { status } = await ask('/decode', { payloads: [PLAIN] }, { 'content-type': 'text/plain' });
    expect(status).toBe(415);
  });
});
