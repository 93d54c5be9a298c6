import { describe, expect, test } from 'vitest';
import { BODY, ORDER, openRaw, post, runReceiver } from './receiver.fixture.js';

describe('slow senders', () => {
  test('are cut off: silent and half-sent headers after 10 s, a half-sent body after 15 s', {
    timeout: 25_000,
  }, async () => {
    const receiver = await runReceiver();
    const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\n`;
    const silent = await openRaw(receiver.port);
    const headers = await openRaw(receiver.port, head);
    const body = await openRaw(receiver.port, `${head}Content-Length: 1000\r\n\r\n{`);
    const dripping = setInterval(() => {
      headers.socket.write('X-A: b\r\n');
      body.socket.write(' ');
    }, 500);
    const [silentMs, headersMs, bodyMs] = await Promise.all([silent.closed, headers.closed, body.closed]);
    clearInterval(dripping);
    expect(Math.min(silentMs, headersMs)).toBeGreaterThan(9_500);
    expect(Math.max(silentMs, headersMs)).toBeLessThan(12_500);
    expect(bodyMs).toBeGreaterThan(14_500);
    expect(bodyMs).toBeLessThan(17_500);
    expect(receiver.signals).toEqual([]);
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
  });

  test('do not keep a closing receiver open', { timeout: 10_000 }, async () => {
    const receiver = await runReceiver();
    const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n`;
    const slow = await openRaw(receiver.port, `${head}Expect: 100-continue\r\n\r\n`);
    await expect.poll(slow.received).toContain('100 Continue');
    const startedAt = performance.now();
    await receiver.close();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

test('more than 1,000 connections are refused, and the place of one that ends is free again', async () => {
  const receiver = await runReceiver();
  const connections = await Promise.all(Array.from({ length: 1_000 }, () => openRaw(receiver.port)));
  const oneMore = await openRaw(receiver.port);
  await oneMore.closed;
  connections[0]?.socket.destroy();
  await expect.poll(async () => (await post(receiver.urlOf(ORDER)).catch(() => undefined))?.status).toBe(200);
});

test('closing lets a callback under way finish', async () => {
  const receiver = await runReceiver(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return 'delivered';
  });
  const answer = post(receiver.urlOf(ORDER), BODY);
  await expect.poll(() => receiver.signals.length).toBe(1);
  await receiver.close();
  expect((await answer).status).toBe(200);
});
