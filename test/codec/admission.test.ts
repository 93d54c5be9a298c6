import { createSecretKey } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCodec } from '../../src/codec/server.js';
import { Secret } from '../../src/config.js';
import type { Port } from '../../src/http-port/port.js';

const TOKEN = 'a-token-of-the-codec';
const PLAIN = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'IjQxMTEi' };

const config = {
  host: '127.0.0.1',
  port: 0,
  encryptionKeys: [{ id: 'a', key: createSecretKey(Buffer.alloc(32, 1)) }],
  uiOrigin: undefined,
};

let codec: Port;
let guarded: Port;
beforeAll(async () => {
  codec = await startCodec(config);
  guarded = await startCodec({ ...config, token: new Secret(TOKEN) });
});
afterAll(() => Promise.all([codec?.close(), guarded?.close()]));

/** Answer of a POST /decode; a Host is what `fetch` does not let anybody choose. */
function decode({ url }: Port, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.on('response', (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on('error', reject).end(JSON.stringify({ payloads: [PLAIN] }));
  });
}

describe('without a token', () => {
  test.for(['127.0.0.1', '127.0.0.1:8081', 'localhost:8081', '[::1]:8081'])(
    'a Host of this machine is answered: %s',
    async (host) => {
      expect(await decode(codec, { host })).toMatchObject({ status: 200 });
    },
  );

  test.for([
    'evil.example',
    'evil.example:8081',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    'x@127.0.0.1@y',
  ])('any other one is refused, as of a web page that led its name here: "%s"', async (host) => {
    const { status, body } = await decode(codec, { host });
    expect([400, 403]).toContain(status);
    expect(body).not.toContain('payloads');
  });
});

describe('with a token', () => {
  test.for(['/healthz', '/readyz'])('a checker without it may ask %s', async (path) => {
    expect((await fetch(`${guarded.url}${path}`)).status).toBe(200);
  });

  test('who has it is answered, under any Host', async () => {
    const authorization = `Bearer ${TOKEN}`;
    expect(await decode(guarded, { authorization })).toMatchObject({ status: 200 });
    expect(await decode(guarded, { authorization, host: 'codec.example.com' })).toMatchObject({ status: 200 });
  });

  test.for<[string, Record<string, string>]>([
    ['none', {}],
    ['another one', { authorization: 'Bearer a-token-of-another' }],
    ['a part of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['it as a password', { authorization: `Basic ${TOKEN}` }],
  ])('who has %s is refused, on this machine too', async ([, headers]) => {
    const { status, body } = await decode(guarded, headers);
    expect(status).toBe(401);
    expect(body).not.toContain(TOKEN);
  });
});
