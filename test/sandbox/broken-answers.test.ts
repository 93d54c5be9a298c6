import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../sandbox/index.js';
import { BODIES, call, create, headersFor, start } from './sandbox.fixture.js';

const marked = (words: string) => ({ description: `[sandbox ${words}]` });
const WITHDRAW = JSON.stringify({ order_id: 'raw', ...BODIES.withdraw });

/** Posts over an agent of the test's own: the answer's status and bytes, or the code of what broke it. */
function post(
  sandbox: Sandbox,
  body: string,
  agent?: Agent,
): Promise<{ status?: number; bytes?: Buffer; code?: string }> {
  return new Promise((resolve) => {
    const url = `${sandbox.url}/v2/order/withdraw`;
    let status: number | undefined;
    // A reset reaches the request or the response, by the version of Node.
    const failed = ({ code }: NodeJS.ErrnoException) => resolve({ ...(status && { status }), code });
    const sent = request(url, { method: 'POST', headers: headersFor(sandbox, body), agent }, (response) => {
      const parts: Buffer[] = [];
      status = response.statusCode;
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', failed);
      response.on('end', () => resolve({ status, bytes: Buffer.concat(parts) }));
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

const withMarker = (words: string) => WITHDRAW.replace('}', `,"description":"[sandbox ${words}]"}`);

test('create=cut announces more than it sends, having executed', async () => {
  const sandbox = await start();
  expect(await post(sandbox, withMarker('create=cut'))).toEqual({ status: 200, code: 'ECONNRESET' });
  expect(sandbox.stats().executedByOrderId).toEqual({ raw: 1 });
});

test('create=gzip-bomb is a small body that unpacks to a large one', async () => {
  const sandbox = await start();
  const { bytes } = await post(sandbox, withMarker('create=gzip-bomb'));
  expect(bytes?.length).toBeLessThan(100_000);
  expect(bytes?.subarray(0, 2).toString('hex')).toBe('1f8b');
});

test('create=endless is still sending after more than any cap', async () => {
  const sandbox = await start();
  const enough = 48 * 1024 * 1024;
  const seen = await new Promise<number>((resolve, reject) => {
    const body = withMarker('create=endless');
    const url = `${sandbox.url}/v2/order/withdraw`;
    const sent = request(url, { method: 'POST', headers: headersFor(sandbox, body) }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > enough) resolve(bytes);
      });
      response.on('end', () => reject(new Error(`it ended after ${bytes} bytes`)));
    });
    onTestFinished(() => void sent.destroy());
    sent.end(body);
  });
  expect(seen).toBeGreaterThan(enough);
});

test('create.reset-unread resets the connection before the body is read: nothing is counted, nothing executed', async () => {
  const sandbox = await start({ settings: { faults: { 'create.reset-unread': 1 } } });
  await expect(create(sandbox, 'withdraw', 'r')).rejects.toThrow('fetch failed');
  expect(sandbox.stats()).toMatchObject({ createsByOrderId: {}, executedByOrderId: {} });
  expect(sandbox.requests()).toMatchObject([{ path: '/v2/order/withdraw', status: 0, fault: 'reset-unread' }]);
  expect((await call(sandbox, 'order/status', { order_id: 'r' })).status).toBe(400);
});

test('reset-unread is drawn by rate only: a marker that names it is refused', async () => {
  const sandbox = await start();
  expect((await create(sandbox, 'withdraw', 'm', marked('create=reset-unread'))).status).toBe(400);
});

test('a connection that idled longer than staleAfterMs is reset at its next request, a new one is not', async () => {
  const sandbox = await start({ settings: { staleAfterMs: 50, duplicateMode: 'b' } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  expect((await post(sandbox, WITHDRAW, agent)).status).toBe(200);
  expect((await post(sandbox, WITHDRAW, agent)).status).toBe(200);
  await sleep(120);
  expect((await post(sandbox, WITHDRAW, agent)).code).toBe('ECONNRESET');
  expect((await post(sandbox, WITHDRAW, agent)).status).toBe(200);
  expect(sandbox.requests().map(({ fault }) => fault)).toEqual([undefined, undefined, 'stale-socket', undefined]);
});

test.each([
  ['c', 2, 200],
  ['a', 1, 400],
] as const)('create=twice under duplicate mode %s executes %d times and answers %d', async (mode, executed, status) => {
  const sandbox = await start({ settings: { duplicateMode: mode } });
  expect((await create(sandbox, 'withdraw', 't', marked('create=twice'))).status).toBe(status);
  expect(sandbox.stats()).toMatchObject({ executedByOrderId: { t: executed }, createsByOrderId: { t: 2 } });
});

test.each([
  ['other-type', { user_order_id: 'x', order_type: 'deposit' }],
  ['other-amount', { user_order_id: 'x', expected_amount_from: '11000' }],
  ['other-wallet', { user_order_id: 'x', wallet_to: 'other-wallet' }],
  ['null-field field=status', { status: null }],
  ['nulls-as-text', { amount_from: '', network_from: '' }],
  ['amounts-as-numbers', { expected_amount_from: 1000 }],
  ['amounts-with-commas', { expected_amount_from: '1,1000' }],
  ['unknown-type', { order_type: 'swap' }],
  ['error-code-text', { error_code: '0' }],
])('create=%s answers 200 with %j', async (fault, fields) => {
  const sandbox = await start();
  const { status, body } = await create(sandbox, 'withdraw', 'x', marked(`create=${fault}`));
  expect(status).toBe(200);
  expect(body.data).toMatchObject(fields);
  // The order itself is as it was asked for.
  expect(sandbox.orders()[0]?.order).toMatchObject({ order_type: 'withdraw', expected_amount_from: '1000' });
});

test('create=status-unknown answers the right data under an unknown envelope status', async () => {
  const sandbox = await start();
  const { body } = await create(sandbox, 'withdraw', 'x', marked('create=status-unknown'));
  expect(body).toMatchObject({ status: 'accepted', data: { user_order_id: 'x' } });
});

test.each([
  ['negative', '-5'],
  ['not-a-number', 'NaN'],
])('balances.%s answers amount %s', async (fault, amount) => {
  const sandbox = await start({ settings: { faults: { [`balances.${fault}`]: 1 } } });
  expect((await call(sandbox, 'balances')).body.data).toMatchObject({ usd: { amount }, btc: { amount } });
});
