import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { MAX_CALLBACK_BODY_BYTES } from '../../src/receiver/server.js';
import { escaped, largestOrder } from './largest-order.fixture.js';
import { ADDRESS, BODY, ORDER, openRaw, post, runReceiver } from './receiver.fixture.js';

const HINT = { order_uuid: 'u-1', status: 'completed' };

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

describe('the body', () => {
  test('that is not one JSON object is answered 400 without a signal', async () => {
    const receiver = await runReceiver();
    const deep = `{"x":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
    const utf16 = Buffer.from(BODY, 'utf16le');
    for (const body of [
      '',
      '[]',
      '"x"',
      'null',
      '{a:1}',
      '{"a":1,"a":2}',
      '{"a":1e400}',
      deep,
      utf16,
      gzipSync(BODY),
    ]) {
      expect((await post(receiver.urlOf(ORDER), body)).status).toBe(400);
    }
    expect((await fetch(receiver.urlOf(ORDER), { method: 'POST' })).status).toBe(400);
    expect(receiver.signals).toEqual([]);
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
  });

  test('about another order wakes up the order of the URL, without its claims', async () => {
    const receiver = await runReceiver();
    const body = '{"user_order_id":"invoice-2","order_uuid":"u-2","status":"completed"}';
    expect((await post(receiver.urlOf(ORDER), body)).status).toBe(200);
    expect(receiver.signals).toEqual([{ target: ORDER, hint: {} }]);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/json; charset=x',
    ';;',
    'nonsense',
  ])('may call itself %s', async (contentType) => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(ORDER), BODY, { 'content-type': contentType })).status).toBe(200);
    expect(receiver.signals).toEqual([{ target: ORDER, hint: HINT }]);
  });

  test('may come without a content type, in chunks and after 100 Continue', async () => {
    const receiver = await runReceiver();
    const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n`;
    const raw = await openRaw(receiver.port, head);
    await expect.poll(raw.received).toContain('HTTP/1.1 100 Continue');
    raw.socket.write(`${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`);
    await expect.poll(raw.received).toContain('HTTP/1.1 200 OK');
  });

  test('of 80 KiB is read', async () => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(ORDER), BODY.padEnd(80 * 1024))).status).toBe(200);
  });

  test('one byte above 80 KiB is answered 413 and the connection is closed', async () => {
    const receiver = await runReceiver();
    const answer = await post(receiver.urlOf(ORDER), BODY.padEnd(80 * 1024 + 1));
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
    expect(receiver.signals).toEqual([]);
  });

  test('announced as 100 MB is refused before it is sent', async () => {
    const receiver = await runReceiver();
    const raw = await openRaw(
      receiver.port,
      `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n`,
    );
    await raw.closed;
    expect(raw.received()).toContain('HTTP/1.1 413');
  });

  test('without a length and without an end is cut off near 80 KiB', async () => {
    const receiver = await runReceiver();
    const raw = await openRaw(
      receiver.port,
      `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    for (let i = 0; i < 8; i += 1) raw.socket.write(chunk);
    await raw.closed;
    expect(raw.received()).toContain('HTTP/1.1 413');
  });
});
