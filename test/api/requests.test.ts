import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { problemOf } from '../../src/api/problems.js';
import { FailedError, TemporalUnreachableError } from '../../src/client/errors.js';
import type { PaymentOrders } from '../../src/client.js';
import { ORDER_FAILURES } from '../../src/contract/failures.js';
import { type Answer, apiKey, runApi } from './api.fixture.js';

/** Nothing here may reach Temporal. */
const NO_ORDERS = {} as PaymentOrders;

const api = await runApi(NO_ORDERS, { whyNotReady: async () => 'Temporal does not answer' });
const withKeys = await runApi(NO_ORDERS, {
  keys: [
    apiKey('reader', { verbs: ['read'], accounts: ['eu'] }),
    apiKey('payer', { maxAmount: { usd: '10' } }),
    apiKey('exchanger', { maxAmount: { usd: '10', eur: '10' } }),
  ],
});
const START = {
  order_type: 'withdraw',
  order: { order_id: 'o-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' },
};

function expectProblem({ status, headers, body }: Answer, expected: { status: number; code: string }): void {
  expect({ status, ...body }).toMatchObject(expected);
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(body).toMatchObject({ type: `urn:payment-orders:problem:${expected.code}`, requestId: expect.any(String) });
  expect(headers.get('x-request-id')).toBe(body.requestId);
  for (const text of [body.title, body.detail]) expect(text).toMatch(/^[A-Z]/);
}

test('health and readiness are answered without a key', async () => {
  expect(await withKeys.call('GET', '/healthz')).toMatchObject({ status: 200, body: { result: 'ok' } });
  expect(await withKeys.call('GET', '/readyz')).toMatchObject({ status: 200 });
  expectProblem(await api.call('GET', '/readyz'), { status: 503, code: 'unreachable' });
});

test('what no route reads is a problem that says so', async () => {
  expectProblem(await api.call('GET', '/v1/nothing'), { status: 404, code: 'noRoute' });
  expectProblem(await api.call('POST', '/v1/orders', '{"order": '), { status: 400, code: 'unreadable' });
  expectProblem(await api.call('POST', '/v1/orders', '{"order": {"amount": "1", "amount": "2"}}'), {
    status: 400,
    code: 'unreadable',
  });
  expectProblem(await api.call('POST', '/v1/orders', JSON.stringify('x'.repeat(128 * 1024))), {
    status: 413,
    code: 'unreadable',
  });
  expectProblem(await api.call('GET', '/v1/orders/%E0%A4%A'), { status: 400, code: 'unreadable' });
  expectProblem(await api.call('DELETE', '/v1/orders/o-1'), { status: 404, code: 'noRoute' });
  const latin1 = await fetch(`${api.url}/v1/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"order_type":"withdraw","order":{"description":"f\xfcr"}}', 'latin1'),
  });
  expect([latin1.status, Object(await latin1.json()).detail]).toEqual([400, expect.stringContaining('is not UTF-8')]);
  const text = await fetch(`${api.url}/v1/orders`, {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.status).toBe(415);
  expectProblem(await api.call('GET', '/v1/orders?limit=0&wallet=4111111111111111'), {
    status: 422,
    code: 'invalidInput',
  });
});

test('a sane request id is used, another one is replaced', async () => {
  const idOf = async (given: string) => {
    const { headers } = await fetch(`${api.url}/healthz`, { headers: { 'x-request-id': given } });
    return headers.get('x-request-id');
  };
  expect(await idOf('caller-17.a_b')).toBe('caller-17.a_b');
  for (const bad of ['short', '4111111111111111', 'a b c d e f', 'x'.repeat(65)]) expect(await idOf(bad)).not.toBe(bad);
});

test('without a key, or with a wrong one, nothing is done', async () => {
  for (const key of [undefined, '', 'Reader', 'readerx']) {
    const answer = await withKeys.call('POST', '/v1/orders', START, key);
    expectProblem(answer, { status: 401, code: 'unauthenticated' });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
});

test('a key does only what its verbs, accounts and amounts allow', async () => {
  const forbidden = { status: 403, code: 'forbidden' };
  expectProblem(await withKeys.call('POST', '/v1/orders', START, 'reader'), forbidden);
  expectProblem(await withKeys.call('GET', '/v1/orders/o-1', undefined, 'reader'), forbidden);
  expectProblem(await withKeys.call('GET', '/v1/orders?account=us', undefined, 'reader'), forbidden);
  expectProblem(await withKeys.call('POST', '/v1/orders/o-1/cancel', {}, 'reader'), forbidden);
  expectProblem(await withKeys.call('POST', '/v1/orders', START, 'payer'), forbidden);
  const exchange = { order_id: 'o-2', currency_from: 'usd', currency_to: 'eur', network_to: 'sepa', amount_to: '1' };
  const inEuro = {
    order_type: 'exchange_withdraw',
    order: {
      ...exchange,
      wallet: 'DE89370400440532013000',
      wallet_details: { recipient_email: 'jane@example.com', recipient_name: 'Jane' },
    },
  };
  expectProblem(await withKeys.call('POST', '/v1/orders', inEuro, 'payer'), forbidden);
  const wallets = ['4111111111111111', '5555555555554444'];
  const cards = wallets.map((wallet) => ({ amount: '6', wallet }));
  const target = { currency_to: 'usd', network_to: 'multiple_cards', wallet: 'several', wallet_details: cards };
  const toCards = { order_id: 'o-3', currency_from: 'eur', amount: '9', ...target };
  const start = { order_type: 'exchange_withdraw', order: toCards };
  const beyond = await withKeys.call('POST', '/v1/orders', start, 'exchanger');
  expectProblem(beyond, forbidden);
  expect(beyond.body.detail).toContain('may move at most 10 usd at once');
});

test('an account of others gets the same answer, whatever the body holds', async () => {
  const own = { status: 403, code: 'forbidden' };
  const keys = [apiKey('eu-only', { accounts: ['eu'] })];
  const limited = await runApi(NO_ORDERS, { keys });
  for (const body of [{ account: 'us' }, { ...START, account: 'us' }, START])
    expectProblem(await limited.call('POST', '/v1/orders', body, 'eu-only'), own);
});

test('a caller who asks too often is asked to wait, and others are not', async () => {
  const limited = await runApi(NO_ORDERS, { keys: [apiKey('a'), apiKey('b')], requestsPerSecond: 1 });
  const ask = (key: string) => limited.call('GET', '/v1/orders?limit=0', undefined, key);
  const statuses = [];
  for (let n = 0; n < 6; n += 1) statuses.push((await ask('a')).status);
  expect(statuses).toEqual([422, 422, 422, 422, 429, 429]);
  const answer = await ask('a');
  expectProblem(answer, { status: 429, code: 'limited' });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect((await ask('b')).status).toBe(422);
});

test('a page under a name of its own reaches nothing where there are no keys', async () => {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.end('GET /v1/orders HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text).toMatch(/^HTTP\/1.1 403 /);
});

test('the log holds no key, wallet or body', async () => {
  await withKeys.call('GET', '/v1/orders/4111111111111111?wallet=5555555555554444', undefined, 'payer');
  const log = withKeys.lines.join('');
  expect(log).toContain('/v1/orders/:id');
  for (const secret of ['Bearer', '4111111111111111', '5555555555554444', '12.50']) expect(log).not.toContain(secret);
});

test('an unreachable Temporal is answered by what it means, not by where it is', () => {
  const { status, code, detail } = problemOf(
    new TemporalUnreachableError('inside.example:7233', 'payments', 'refused'),
  );
  expect([status, code]).toEqual([503, 'unreachable']);
  expect(detail).toContain('Repeat the same request with the same ids, which is safe');
  expect(detail).not.toMatch(/inside|payments/);
});

test('every failure of an order has a status of its own row', () => {
  const statuses = ORDER_FAILURES.map((type) => problemOf(new FailedError('order', 'o-1', type, 'why')));
  expect(statuses.map(({ status, code }) => [code, status])).toEqual([
    ['InvalidOrder', 422],
    ['OrderRejected', 422],
    ['OrderConflict', 409],
    ['OrderCancelled', 409],
    ['OrderAbsent', 409],
  ]);
});

test.each([
  ['another origin', { origin: 'https://evil.example' }, 403],
  ['an opaque origin', { origin: 'null' }, 403],
  ['another port', { origin: 'http://127.0.0.1:1' }, 403],
  ['a cross-site page without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
  ['its own page', { origin: api.url, 'sec-fetch-site': 'same-origin' }, 422],
  ['a program', {}, 422],
])('without keys, a request of %s is answered %s', async (_, headers: Record<string, string>, status) => {
  const { hostname, port } = new URL(api.url);
  // fetch does not set these headers.
  const call = request({ host: hostname, port, method: 'POST', path: '/v1/orders', headers });
  const [response] = (await once(call.end(), 'response')) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(status);
});
