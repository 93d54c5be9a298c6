import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { orderObject, WALLET, withdrawRequest } from './objects.fixture.js';
import { API_KEY, API_SECRET, answer, clientFor, SIGNATURE, startServer, startTcpServer } from './server.fixture.js';

const REQUEST = withdrawRequest({ description: 'for nobody to read', client_info: { client_email: 'a@example.com' } });
const SECRETS = [
  API_KEY,
  API_SECRET,
  SIGNATURE,
  WALLET,
  'for nobody to read',
  'a@example.com',
  'https://h/?q=hidden',
  'leaked',
];

/** Everything a logger could get out of a value. */
const everything = (value: unknown): string =>
  [
    JSON.stringify(value),
    inspect(value, { depth: 10, showHidden: true, getters: true }),
    value instanceof Error ? `${value.message}${value.stack}${String(value.cause)}` : '',
  ].join('\n');

async function servers(): Promise<Record<string, string>> {
  const status = async (code: number) =>
    (await startServer((response) => answer(response, `leaked ${WALLET}`, code))).baseUrl;
  const refusal = async (text: string) => (await startServer((response) => answer(response, text, 400))).baseUrl;
  const body = async (text: string) => (await startServer((response) => answer(response, text))).baseUrl;
  const wrongShape = orderObject({ wallet_to: 4111111111111111, status: 5, leaked: 'leaked' });
  return {
    refused: 'http://127.0.0.1:1',
    'unknown host': 'http://no-such-host.invalid',
    reset: await startTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    'not http': await startTcpServer((socket) => socket.once('data', (data) => socket.end(data))),
    timeout: (await startServer(() => {})).baseUrl,
    // Of a 400 a masked excerpt is kept: everything that it must not show stands in its body.
    400: await refusal(SECRETS.filter((secret) => secret !== 'leaked').join(' ')),
    401: await status(401),
    429: await status(429),
    503: await status(503),
    redirect: (await startServer((response) => response.writeHead(302, { location: 'https://h/?q=hidden' }).end()))
      .baseUrl,
    html: await body(`<p>${WALLET} leaked</p>`),
    envelope: await body(JSON.stringify({ status: 'leaked', data: null })),
    shape: await body(JSON.stringify({ status: 'success', data: wrongShape })),
  };
}

test('no error of any kind carries a key, secret, signature, wallet, text of a body or query', async () => {
  const seen = new Set<string>();
  for (const [kind, baseUrl] of Object.entries(await servers())) {
    const failing = clientFor(baseUrl, { requestTimeoutMs: 300 }).createOrder('withdraw', REQUEST);
    const error: unknown = await failing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error, kind).toBeInstanceOf(Error);
    seen.add((error as { code: string }).code);
    const text = everything(error);
    for (const secret of SECRETS) expect(text, `${kind}: ${secret}`).not.toContain(secret);
  }
  expect([...seen].sort()).toEqual([
    'malformed_response',
    'no_answer',
    'not_sent',
    'rate_limited',
    'rejected',
    'unexpected_status',
  ]);
});

test('the client itself shows neither key nor secret', () => {
  const text = everything(clientFor('http://127.0.0.1:1'));
  for (const secret of SECRETS) expect(text).not.toContain(secret);
});
