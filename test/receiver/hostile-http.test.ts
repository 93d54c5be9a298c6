import { describe, expect, test } from 'vitest';
import { BODY, exchange, ORDER, openRaw, type RunningReceiver, rawPost, runReceiver } from './receiver.fixture.js';

const withoutDate = (answer: string): string => answer.replace(/\r\nDate: [^\r]+/, '');

/** All that a sender without a genuine token ever gets, whatever it sends. */
const NOT_FOUND = [
  'HTTP/1.1 404 Not Found',
  'Content-Type: application/json; charset=utf-8',
  'Content-Length: 22',
  'Connection: close',
  '',
  '{"result":"not found"}',
].join('\r\n');

const LINE = 'Host: x\r\n';
/** The largest request line or header is 8 KiB. */
const LONG = 'a'.repeat(20_000);

type Attempt = [what: string, bytesOf: (genuine: string) => string | Buffer];

const NO_CALLBACK: Attempt[] = [
  ['another path', () => `POST /a HTTP/1.1\r\n${LINE}Content-Length: 0\r\n\r\n`],
  ['HTTP/1.0', () => 'GET / HTTP/1.0\r\n\r\n'],
  ['no Host', () => 'GET / HTTP/1.1\r\n\r\n'],
  ['a genuine path, asked by GET', (path) => `GET ${path} HTTP/1.1\r\n${LINE}\r\n`],
  ['OPTIONS of everything', () => `OPTIONS * HTTP/1.1\r\n${LINE}\r\n`],
  ['TRACE', (path) => `TRACE ${path} HTTP/1.1\r\n${LINE}\r\n`],
  ['the absolute form of a genuine URL', (path) => rawPost(`http://localhost${path}`)],
  ['a genuine path behind a fragment', (path) => rawPost(`/#${path}`)],
  ['an upgrade to WebSocket', () => `GET / HTTP/1.1\r\n${LINE}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
  ['64 KiB without a token', () => rawPost('/a', BODY.padEnd(65_536))],
];

const NO_HTTP: Attempt[] = [
  ['CONNECT', () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'],
  ['a method that does not exist', (path) => `PAY ${path} HTTP/1.1\r\n${LINE}\r\n`],
  ['HTTP/2 with prior knowledge', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/3.0 in name', () => `GET / HTTP/3.0\r\n${LINE}\r\n`],
  ['a TLS greeting', () => Buffer.from('16030100c8010000c40303'.padEnd(400, '0'), 'hex')],
  ['no HTTP at all', () => 'hello\r\n\r\n'],
  ['length and chunks at once', (path) => rawPost(path, BODY, 'Transfer-Encoding: chunked\r\n')],
  ['two lengths', (path) => rawPost(path, BODY, 'Content-Length: 3\r\n')],
  ['a length that is no number', (path) => `POST ${path} HTTP/1.1\r\n${LINE}Content-Length: 1e3\r\n\r\n`],
  ['an unknown transfer encoding', (path) => rawPost(path, '', 'Transfer-Encoding: gzip\r\n')],
  ['a header folded over two lines', (path) => rawPost(path, BODY, 'X-A: b\r\n c\r\n')],
  ['a zero byte in a header', (path) => rawPost(path, BODY, 'X-A: \0\r\n')],
  ['line feeds alone', (path) => rawPost(path).replaceAll('\r\n', '\n')],
  ['20,000 characters of a header', (path) => rawPost(path, BODY, `X-A: ${LONG}\r\n`)],
  ['20,000 characters of a query string', (path) => rawPost(`${path}?${LONG}`)],
  ['20,000 characters of a path', () => rawPost(`/callbacks/default/${LONG}`)],
  ['chunks without size', (path) => `POST ${path} HTTP/1.1\r\n${LINE}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
];

test.each([
  ...NO_CALLBACK.map(([what, bytesOf]) => [what, bytesOf, NOT_FOUND] as const),
  ...NO_HTTP.map(([what, bytesOf]) => [what, bytesOf, ''] as const),
])('what is no callback gets the same 404, what is no HTTP nothing: %s', async (_what, bytesOf, answer) => {
  const receiver = await runReceiver();
  expect(withoutDate(await exchange(receiver.port, bytesOf(receiver.pathOf(ORDER))))).toBe(answer);
  expect(receiver.signals).toEqual([]);
  expect(receiver.counts).toEqual(answer ? { notFound: 1 } : {});
});

test.each<Attempt>([
  ['by HTTP/1.0', (path) => rawPost(path).replace('HTTP/1.1', 'HTTP/1.0')],
  ['without Host', (path) => rawPost(path).replace('Host: x\r\n', '')],
  ['with an upgrade that is not made', (path) => rawPost(path, BODY, 'Connection: Upgrade\r\nUpgrade: h2c\r\n')],
  ['with a wish to keep the connection', (path) => rawPost(path, BODY, 'Connection: keep-alive\r\n')],
  ['with 7 KiB of headers', (path) => rawPost(path, BODY, `X-A: ${'a'.repeat(7_000)}\r\n`)],
  ['that asks whether to send its body', (path) => rawPost(path, BODY, 'Expect: 100-continue\r\n')],
  [
    'in chunks with extensions and a trailer',
    (path) =>
      `POST ${path} HTTP/1.1\r\n${LINE}Transfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)};a=b\r\n${BODY}\r\n0\r\nX-A: b\r\n\r\n`,
  ],
])('a genuine callback is taken %s', async (_how, bytesOf) => {
  const receiver = await runReceiver();
  const answer = await exchange(receiver.port, bytesOf(receiver.pathOf(ORDER)));
  expect(answer).toMatch(/HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain('\r\nConnection: close\r\n');
  expect(receiver.signals).toHaveLength(1);
});

test('a genuine callback is taken byte by byte, and from a sender that ends its side behind it', async () => {
  const receiver = await runReceiver(async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return 'delivered';
  });
  const slow = await openRaw(receiver.port);
  for (const byte of rawPost(receiver.pathOf(ORDER))) {
    slow.socket.write(byte);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const ending = await openRaw(receiver.port);
  ending.socket.end(rawPost(receiver.pathOf(ORDER)));
  for (const raw of [slow, ending]) {
    await raw.closed;
    expect(raw.received()).toContain('200 OK');
  }
});

describe('a sender that goes away in the middle leaves nothing behind', () => {
  async function expectForgotten(receiver: RunningReceiver): Promise<void> {
    await receiver.close();
    expect(receiver.signals).toEqual([]);
    expect([receiver.log, receiver.counts]).toEqual([[], {}]);
  }

  test.each(['', 'POST', `POST /a HTTP/1.1\r\n${LINE}`])('of %j', async (bytes) => {
    const receiver = await runReceiver();
    const ended = await openRaw(receiver.port);
    ended.socket.end(bytes);
    expect(await ended.closed).toBeLessThan(1_000);
    expect(ended.received()).toBe('');
    const reset = await openRaw(receiver.port, bytes);
    reset.socket.resetAndDestroy();
    await expectForgotten(receiver);
  });

  test('of a genuine body', async () => {
    const receiver = await runReceiver();
    const raw = await openRaw(receiver.port);
    raw.socket.end(rawPost(receiver.pathOf(ORDER)).slice(0, -1));
    await raw.closed;
    expect(raw.received()).toBe('');
    await expectForgotten(receiver);
  });
});

test('an endless body, extension or answerless pipeline ends by itself', { timeout: 40_000 }, async () => {
  const receiver = await runReceiver();
  const chunked = `POST ${receiver.pathOf(ORDER)} HTTP/1.1\r\n${LINE}Transfer-Encoding: chunked\r\n\r\n`;
  const endless = [
    [`POST /a HTTP/1.1\r\n${LINE}Content-Length: 999999999\r\n\r\n`, 'x'.repeat(16_384)],
    [chunked, `4000\r\n${'x'.repeat(0x4000)}\r\n`],
    [chunked, '1\r\nx\r\n'.repeat(2_000)],
    [`${chunked}1;a=`, 'x'.repeat(16_384)],
    ['', `GET / HTTP/1.1\r\n${LINE}\r\n`.repeat(500)],
  ] as const;
  const ends = endless.map(async ([start, more]) => {
    const raw = await openRaw(receiver.port, start);
    const sending = setInterval(() => raw.socket.write(more), 5);
    expect(await raw.closed).toBeLessThan(8_000);
    clearInterval(sending);
  });
  await Promise.all(ends);
  expect(receiver.signals).toEqual([]);
});
