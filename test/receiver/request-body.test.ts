import { describe, expect, test } from 'vitest';
import { MAX_CALLBACK_BODY_BYTES } from '../../src/receiver/server.js';
import { escaped, largestOrder } from './largest-order.fixture.js';
import { ADDRESS, BODY, exchange, ORDER, post, runReceiver } from './receiver.fixture.js';

describe('the largest order that we may send', () => {
  const order = largestOrder();
  const target = { ...ORDER, orderId: order.user_order_id };
  const detailsAsText = { ...order, wallet_to_details: JSON.stringify(order.wallet_to_details) };

  test.each<[string, string]>([
    ['written in UTF-8', JSON.stringify(order)],
    ['with everything escaped that is no ASCII', escaped(order)],
    ['with its details as text', escaped(detailsAsText)],
  ])('is read as a callback %s', async (_how, body) => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(target), body)).status).toBe(200);
    expect(receiver.signals).toMatchObject([{ hint: { status: 'completed_partially' } }]);
    expect((await post(receiver.urlOf(ADDRESS), body)).status).toBe(200);
    const chunked = new Blob([body]).stream();
    const sent = await fetch(receiver.urlOf(target), { method: 'POST', body: chunked, duplex: 'half' } as RequestInit);
    expect(sent.status).toBe(200);
  });

  test('fits with a tenth to spare at most, so that the limit is no larger than it must be', () => {
    const bytes = Math.max(escaped(order).length, escaped(detailsAsText).length);
    expect(bytes).toBeLessThanOrEqual(MAX_CALLBACK_BODY_BYTES);
    expect(bytes).toBeGreaterThan(0.9 * MAX_CALLBACK_BODY_BYTES);
  });
});

test.each(['', 'text/plain', 'multipart/form-data', 'application/json; charset=x', ';;', 'nonsense'])(
  'the body may call itself "%s"',
  async (contentType) => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(ORDER), BODY, { 'content-type': contentType })).status).toBe(200);
    expect(receiver.signals).toEqual([{ target: ORDER, hint: { order_uuid: 'u-1', status: 'completed' } }]);
  },
);

test('a body of 80 KiB is read, and one byte more is answered 413 on a connection that closes', async () => {
  const receiver = await runReceiver();
  expect((await post(receiver.urlOf(ORDER), BODY.padEnd(80 * 1024))).status).toBe(200);
  const answer = await post(receiver.urlOf(ORDER), BODY.padEnd(80 * 1024 + 1));
  expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
  expect(receiver.signals).toHaveLength(1);
});

test.each([
  ['announced as 100 MB is refused before it is sent', 'Content-Length: 104857600\r\n\r\n'],
  [
    'without a length and without an end is cut off near 80 KiB',
    `Transfer-Encoding: chunked\r\n\r\n${`4000\r\n${' '.repeat(0x4000)}\r\n`.repeat(8)}`,
  ],
])('a body %s', async (_what, rest) => {
  const receiver = await runReceiver();
  const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\n`;
  expect(await exchange(receiver.port, head + rest)).toContain('HTTP/1.1 413');
});
