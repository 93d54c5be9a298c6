import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findNginx, type Nginx, startNginx } from '../../bench/receiver-attacks/nginx.js';
import type { SignalOrder } from '../../src/receiver/signals.js';
import { escaped, largestOrder } from './largest-order.fixture.js';
import { BODY, ORDER, type RunningReceiver, rawPost, runReceiver } from './receiver.fixture.js';

const NOT_FOUND = '{"result":"not found"}';

// Said aloud, since a skipped test is easily overlooked: without it nobody knows whether examples/nginx.conf still holds.
if (findNginx() === undefined)
  process.stderr.write('nginx is not installed: the tests of examples/nginx.conf are skipped\n');

/** A receiver behind nginx with the shipped configuration; `more`: lines for its `http` block. */
async function behindNginx({
  signal,
  more,
  others,
}: {
  signal?: SignalOrder;
  more?: string;
  others?: [string, string][];
} = {}) {
  const receiver = await runReceiver(signal);
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-nginx-'));
  const nginx = await startNginx(folder, receiver.url, more, others);
  onTestFinished(async () => {
    await nginx.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return { receiver, nginx };
}

interface Answer {
  status?: number;
  headers: Record<string, unknown>;
  body: string;
}

/** One request over a connection of its own. */
function ask(
  nginx: Nginx,
  path: string,
  body = BODY,
  options: { method?: string; headers?: Record<string, string> } = {},
) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(
      `${nginx.url}${path}`,
      { method: 'POST', agent: false, rejectUnauthorized: false, ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends bytes over TLS: all that came back until the other side ended the connection, and how long that took. */
async function exchange(nginx: Nginx, bytes: string): Promise<{ received: string; tookMs: number }> {
  const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: nginx.port, rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  const startedAtMs = performance.now();
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('secureConnect', () => socket.write(bytes));
  await new Promise((resolve) => socket.on('close', resolve));
  return { received, tookMs: performance.now() - startedAtMs };
}

const tokenOf = (receiver: RunningReceiver): string => receiver.pathOf(ORDER).split('.').at(-1) ?? '';

describe.skipIf(findNginx() === undefined)('through examples/nginx.conf', () => {
  test('a genuine callback wakes its order up, and is counted for its sender', async () => {
    const { receiver, nginx } = await behindNginx();
    const answer = await ask(nginx, `${receiver.pathOf(ORDER)}?attempt=2`, BODY, {
      headers: { 'x-forwarded-for': '203.0.113.5', 'content-type': 'application/json' },
    });
    expect(answer).toMatchObject({ status: 200, body: '{"result":"accepted"}', headers: { connection: 'close' } });
    expect(receiver.signals).toEqual([{ target: ORDER, hint: { order_uuid: 'u-1', status: 'completed' } }]);
  });

  test('whatever is no callback gets one and the same 404', async () => {
    const { receiver, nginx } = await behindNginx();
    const genuine = receiver.pathOf(ORDER);
    const answers = [
      await ask(nginx, '/'),
      await ask(nginx, '/healthz', '', { method: 'GET' }),
      await ask(nginx, '/refused'),
      await ask(nginx, `/callbacks/default/o.x.${'A'.repeat(43)}`),
      await ask(nginx, `/callbacks/default/o.x.${'A'.repeat(43)}`, ' '.repeat(16_000)),
      await ask(nginx, `${genuine}x`),
      await ask(nginx, genuine, '', { method: 'GET' }),
      await ask(nginx, genuine, BODY, { method: 'PUT' }),
      await ask(nginx, genuine, BODY.padEnd(80 * 1024 + 1)),
      await ask(nginx, genuine, BODY, { headers: { 'x-a': 'a'.repeat(20_000) } }),
      await ask(nginx, `/${'a'.repeat(20_000)}`),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([404, NOT_FOUND]);
    for (const bytes of [
      'hello\r\n\r\n',
      rawPost(genuine, BODY, 'Transfer-Encoding: chunked\r\n'),
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]) {
      const { received } = await exchange(nginx, bytes);
      expect(received).toMatch(/^HTTP\/1\.1 404 /);
      expect(received).toContain(NOT_FOUND);
    }
    expect(receiver.signals).toEqual([]);
  });

  test('of pipelined requests the first is answered', async () => {
    const { receiver, nginx } = await behindNginx();
    const { received } = await exchange(nginx, rawPost(receiver.pathOf(ORDER)).repeat(50));
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(receiver.signals).toHaveLength(1);
  });

  test('slow headers and bodies end after 5 s and never reach the receiver', { timeout: 30_000 }, async () => {
    const { receiver, nginx } = await behindNginx();
    const whole = rawPost(receiver.pathOf(ORDER));
    const slow = await Promise.all(['', whole.slice(0, 40), whole.slice(0, -1)].map((part) => exchange(nginx, part)));
    for (const { tookMs } of slow) {
      expect(tookMs).toBeGreaterThan(4_000);
      expect(tookMs).toBeLessThan(9_000);
    }
    await receiver.close();
    expect([receiver.signals, receiver.log]).toEqual([[], []]);
  });

  test('one sender, or one IPv6 network, gets 429 where another one is served', { timeout: 60_000 }, async () => {
    // Stands in for other machines: the address is taken from a header, as nginx does behind a load balancer.
    const more = 'set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;';
    // A tenth of what is shipped: a busy machine sends no more than 50 requests a second itself.
    const others: [string, string][] = [
      ['rate=50r/s', 'rate=5r/s'],
      ['burst=200', 'burst=20'],
    ];
    const { receiver, nginx } = await behindNginx({ more, others });
    const from = async (address: string, n: number): Promise<number | undefined> =>
      (
        await ask(nginx, receiver.pathOf({ ...ORDER, orderId: `order-${n % 50}` }), '{}', {
          headers: { 'x-test-address': address },
        })
      ).status;
    for (const [flooding, neighbour, other] of [
      ['203.0.113.5', '203.0.113.5', '203.0.113.6'],
      ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1'],
    ] as const) {
      const statuses: (number | undefined)[] = [];
      // 20 at once and 5 a second pass; in lanes, as an attacker would.
      const lane = async (first: number) => {
        for (let n = first; n < 300; n += 30) statuses.push(await from(flooding, n));
      };
      await Promise.all(Array.from({ length: 30 }, (_, first) => lane(first)));
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      // The allowance refills at 5 a second, so the last word is of many.
      const neighbours = await Promise.all(Array.from({ length: 60 }, (_, n) => from(neighbour, n)));
      expect(neighbours).toContain(429);
      expect(await from(other, 1)).toBe(200);
    }
  });

  test('a receiver that is down, or whose Temporal is, is answered 503, to come back', async () => {
    const { receiver, nginx } = await behindNginx({ signal: () => Promise.reject(new Error('14 UNAVAILABLE')) });
    const refused = { status: 503, body: '{"result":"try again"}', headers: { 'retry-after': '5' } };
    expect(await ask(nginx, receiver.pathOf(ORDER))).toMatchObject(refused);
    await receiver.close();
    expect(await ask(nginx, receiver.pathOf(ORDER))).toMatchObject(refused);
  });

  test('the callback of the largest order that we may send comes through', async () => {
    const { receiver, nginx } = await behindNginx();
    const order = largestOrder();
    const path = receiver.pathOf({ ...ORDER, orderId: order.user_order_id });
    expect(await ask(nginx, path, escaped(order))).toMatchObject({ status: 200 });
    expect(receiver.signals).toMatchObject([{ hint: { status: 'completed_partially' } }]);
  });

  test('no log holds a token, whatever goes wrong', async () => {
    const { receiver, nginx } = await behindNginx();
    const genuine = receiver.pathOf(ORDER);
    await ask(nginx, genuine);
    await ask(nginx, genuine, BODY, { method: 'GET' });
    await ask(nginx, genuine, BODY.padEnd(100_000));
    await ask(nginx, `/somewhere/else${genuine}`);
    await ask(nginx, `/?${genuine}`, BODY, { headers: { referer: genuine, 'user-agent': genuine } });
    await exchange(nginx, rawPost(genuine, BODY, 'Transfer-Encoding: chunked\r\n'));
    await exchange(nginx, rawPost(genuine).replace('HTTP/1.1', 'HTTP/9.9'));
    await receiver.close();
    await ask(nginx, genuine);
    // nginx writes its log after its answer.
    const statuses = async () =>
      (await nginx.logText())
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[2]);
    await vi.waitFor(async () => expect(await statuses()).toEqual(['200', '503']));
    const log = await nginx.logText();
    for (const part of [tokenOf(receiver), 'callbacks/', 'attempt']) expect(log).not.toContain(part);
  });
});
