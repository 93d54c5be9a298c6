import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MAX_CONNECTIONS } from '../../src/http-port/port.js';
import type { SignalOrder } from '../../src/receiver/signals.js';
import {
  BODY,
  exchange,
  ORDER,
  openRaw,
  post,
  type RunningReceiver,
  rawPost,
  runReceiver,
} from './receiver.fixture.js';

describe('slow senders', () => {
  test('are cut off after 5 s, whether silent or in the middle of headers or body', { timeout: 25_000 }, async () => {
    const receiver = await runReceiver();
    const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\n`;
    const silent = await openRaw(receiver.port);
    const headers = await openRaw(receiver.port, head);
    const body = await openRaw(receiver.port, `${head}Content-Length: 1000\r\n\r\n{`);
    const dripping = setInterval(() => {
      headers.socket.write('X-A: b\r\n');
      body.socket.write(' ');
    }, 500);
    const tookMs = await Promise.all([silent.closed, headers.closed, body.closed]);
    clearInterval(dripping);
    expect(Math.min(...tookMs)).toBeGreaterThan(4_500);
    expect(Math.max(...tookMs)).toBeLessThan(7_500);
    expect(receiver.signals).toEqual([]);
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
    expect(receiver.counts).toMatchObject({ slow: 3 });
  });

  test('are cut off after 5 s if they await `100 Continue` and send no body', { timeout: 25_000 }, async () => {
    const receiver = await runReceiver();
    const head = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n`;
    const slow = await openRaw(receiver.port, `${head}Expect: 100-continue\r\n\r\n`);
    await expect.poll(slow.received).toContain('100 Continue');
    expect(await Promise.race([slow.closed, sleep(7_500, Number.POSITIVE_INFINITY)])).toBeLessThan(7_500);
    expect(receiver.counts).toMatchObject({ slow: 1 });
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

/** Opens connections that say nothing. */
const openSilent = (receiver: RunningReceiver, count: number) =>
  Promise.all(Array.from({ length: count }, () => openRaw(receiver.port)));

/** A whole callback about an order of its own, so that no two share a signal or an allowance. */
const callbackAbout = (receiver: RunningReceiver, orderId: string): string =>
  rawPost(receiver.pathOf({ ...ORDER, orderId }), '{}');

/** Signals that stay under way until `release`. */
function heldSignals() {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const signal: SignalOrder = () => held.then(() => 'delivered');
  return { signal, release };
}

describe('room for genuine callbacks', () => {
  test('is made by the connection that has waited longest when the receiver is full', async () => {
    const receiver = await runReceiver();
    const [first] = await openSilent(receiver, MAX_CONNECTIONS);
    for (let n = 0; n < 20; n += 1)
      expect(await exchange(receiver.port, callbackAbout(receiver, `full-${n}`), '127.0.0.2')).toContain('200 OK');
    await first?.closed;
    expect(await exchange(receiver.port, 'GET /healthz HTTP/1.1\r\n\r\n', '127.0.0.3')).toContain('200 OK');
    expect(receiver.signals).toHaveLength(20);
    expect(receiver.counts).toMatchObject({ displaced: expect.any(Number) });
  });

  test('is not made by callbacks under way: the new one is closed', async () => {
    const { signal, release } = heldSignals();
    const receiver = await runReceiver(signal);
    const underWay = Array.from({ length: MAX_CONNECTIONS }, (_, n) =>
      exchange(receiver.port, callbackAbout(receiver, `held-${n}`)),
    );
    await expect.poll(() => receiver.signals.length, { timeout: 10_000 }).toBe(MAX_CONNECTIONS);
    expect(await exchange(receiver.port, callbackAbout(receiver, 'one-more'))).toBe('');
    release();
    for (const answer of await Promise.all(underWay)) expect(answer).toContain('200 OK');
    expect(await exchange(receiver.port, callbackAbout(receiver, 'afterwards'))).toContain('200 OK');
  });
});

describe('one connection carries one request', () => {
  test.each([
    ['GET /healthz', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', '200 OK'],
    ['an unknown path', 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n', '404 Not Found'],
  ])('of 5,000 pipelined ones for %s the first is answered', async (_what, request, answer) => {
    const receiver = await runReceiver();
    const received = await exchange(receiver.port, request.repeat(5_000));
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(received).toContain(answer);
    expect(received).toContain('Connection: close');
    expect(Object.values(receiver.counts)).toEqual([1]);
  });

  test('of pipelined callbacks the first is signalled', async () => {
    const receiver = await runReceiver();
    const answers = await exchange(
      receiver.port,
      callbackAbout(receiver, 'first') +
        callbackAbout(receiver, 'second') +
        callbackAbout(receiver, 'third').repeat(99),
    );
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(receiver.signals.map(({ target }) => target.orderId)).toEqual(['first']);
  });
});
