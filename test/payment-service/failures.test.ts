import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { PaymentService } from '../../src/payment-service/client.js';
import { TLS_CERTIFICATE, TLS_EXPIRED_CERTIFICATE, TLS_KEY } from './certificates.fixture.js';
import { orderObject, withdrawRequest } from './objects.fixture.js';
import { answer, clientFor, listen, startServer, startTcpServer } from './server.fixture.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The error of a create, which is what matters most; the way through the code is the same for all operations. */
const errorOfCreate = (service: PaymentService, options = {}): Promise<unknown> =>
  service.createOrder('withdraw', withdrawRequest(), options).then(
    () => undefined,
    (error: unknown) => error,
  );

async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function startHttps(options: object): Promise<{ port: number; requests: () => number; bytes: () => number }> {
  let requests = 0;
  let bytes = 0;
  const server = createHttpsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE, ...options }, (_, response) => {
    requests += 1;
    answer(response, orderObject());
  });
  server.on('secureConnection', (socket) => {
    socket.on('data', (data: Buffer) => {
      bytes += data.length;
    });
  });
  return { port: await listen(server), requests: () => requests, bytes: () => bytes };
}

const OLD_TLS = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };

describe('provably not sent', () => {
  test('nobody listens', async () => {
    const error = await errorOfCreate(clientFor(`http://127.0.0.1:${await closedPort()}`));
    expect(error).toMatchObject({ code: 'not_sent', reason: 'ECONNREFUSED' });
  });

  test('the host name does not exist', async () => {
    const error = await errorOfCreate(clientFor('http://no-such-host.invalid', { requestTimeoutMs: 30_000 }));
    expect(error).toMatchObject({ code: 'not_sent', reason: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) });
  });

  test.each([
    ['self-signed', 'localhost', {}, undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['for another host', '127.0.0.1', {}, TLS_CERTIFICATE, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['expired', 'localhost', { cert: TLS_EXPIRED_CERTIFICATE }, TLS_EXPIRED_CERTIFICATE, 'CERT_HAS_EXPIRED'],
    ['behind TLS 1.1', 'localhost', OLD_TLS, TLS_CERTIFICATE, expect.any(String)],
  ])('the certificate is %s', async (_, host, options, caCertificates, reason) => {
    const server = await startHttps(options);
    // Even where somebody switched the check off for the whole process.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const error = await errorOfCreate(clientFor(`https://${host}:${server.port}`, { caCertificates }));
    expect(error).toMatchObject({ code: 'not_sent', reason });
    expect([server.requests(), server.bytes()]).toEqual([0, 0]);
  });

  test('the server does not speak TLS', async () => {
    const url = new URL((await startServer((response) => answer(response, {}))).baseUrl);
    expect(await errorOfCreate(clientFor(`https://127.0.0.1:${url.port}`))).toMatchObject({ code: 'not_sent' });
  });

  test('the TLS handshake stalls', async () => {
    const port = new URL(await startTcpServer(() => {})).port;
    const error = await errorOfCreate(clientFor(`https://127.0.0.1:${port}`), { timeoutMs: 100 });
    expect(error).toMatchObject({ code: 'not_sent', reason: 'timeout' });
  });

  test('the connection is closed during the TLS handshake', async () => {
    const port = new URL(await startTcpServer((socket) => socket.end())).port;
    expect(await errorOfCreate(clientFor(`https://127.0.0.1:${port}`))).toMatchObject({ code: 'not_sent' });
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'the server hangs up before the request is written (%s)',
    async (how) => {
      const baseUrl = await startTcpServer((socket) => setTimeout(() => socket[how](), 20));
      const beforeSend = () => new Promise<void>((resolve) => setTimeout(resolve, 100));
      const error = await errorOfCreate(clientFor(baseUrl), { beforeSend });
      expect(error).toMatchObject({ code: 'not_sent', reason: 'closed' });
    },
  );

  test('the caller had given up before', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, orderObject()));
    const error = await errorOfCreate(clientFor(baseUrl), { signal: AbortSignal.abort() });
    expect(error).toMatchObject({ code: 'not_sent', reason: 'aborted' });
    expect(received).toEqual([]);
  });
});

describe('no answer', () => {
  test.each([
    ['the connection is reset after the request', 'reset', { reason: 'ECONNRESET' }],
    ['the body ends early', 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"status":"success"', {}],
    ['the chunked body breaks off', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"sta\r\n', {}],
    ['the answer is no HTTP', 'SSH-2.0-x\r\n', {}],
  ])('%s', async (_, text, expected) => {
    const baseUrl = await startTcpServer((socket) =>
      socket.once('data', () => (text === 'reset' ? socket.resetAndDestroy() : socket.end(text))),
    );
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'no_answer', ...expected });
  });

  test('the server is silent', async () => {
    const { baseUrl, received } = await startServer(() => {});
    const error = await errorOfCreate(clientFor(baseUrl), { timeoutMs: 100 });
    expect(error).toMatchObject({ code: 'no_answer', reason: 'timeout' });
    expect(received).toHaveLength(1);
  });

  test('the answer drips byte by byte beyond the time limit', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const start = performance.now();
    const error = await errorOfCreate(clientFor(baseUrl, { requestTimeoutMs: 20_000 }), { timeoutMs: 200 });
    expect(error).toMatchObject({ code: 'no_answer', reason: 'timeout' });
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test('the caller gives up after the request was sent', async () => {
    const caller = new AbortController();
    const { baseUrl } = await startServer(() => caller.abort());
    const error = await errorOfCreate(clientFor(baseUrl), { signal: caller.signal });
    expect(error).toMatchObject({ code: 'no_answer', reason: 'aborted' });
  });

  test('an object announces more than 1 MiB', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { 'content-length': 1024 * 1024 + 1 }).write('{');
    });
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'no_answer', reason: 'response_too_large' });
  });

  test('an object goes on for ever in chunks: no more than the cap is read', async () => {
    let sent = 0;
    const { baseUrl } = await startServer((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'no_answer', reason: 'response_too_large' });
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test('a list may be larger than 1 MiB, but not than 32 MiB', async () => {
    let padding = 2 * 1024 * 1024;
    const { baseUrl } = await startServer((response) =>
      response.end(`{"status":"success","data":[]${' '.repeat(padding)}}`),
    );
    const service = clientFor(baseUrl, { requestTimeoutMs: 20_000 });
    expect(await service.orders().page({})).toEqual({ items: [], malformed: [], total: 0 });
    padding = 32 * 1024 * 1024;
    await expect(service.orders().page({})).rejects.toMatchObject({ reason: 'response_too_large' });
    await expect(service.addresses().page({})).rejects.toMatchObject({ reason: 'response_too_large' });
    await expect(service.rates()).rejects.toMatchObject({ reason: 'response_too_large' });
  });
});

describe('answers other than 200', () => {
  test.each([
    [400, { code: 'rejected', status: 400 }],
    [401, { code: 'unexpected_status', status: 401 }],
    [201, { code: 'unexpected_status', status: 201 }],
    [503, { code: 'unexpected_status', status: 503 }],
  ])('%i is sent once and has its own error', async (status, expected) => {
    const { baseUrl, received } = await startServer((response) => answer(response, orderObject(), status));
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject(expected);
    expect(received).toHaveLength(1);
  });

  test('429 says how long to wait', async () => {
    const { baseUrl } = await startServer((response) => response.writeHead(429, { 'retry-after': '3' }).end());
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'rate_limited', retryAfterMs: 3_000 });
  });

  test('101 is unexpected at once, not after the time limit', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    const baseUrl = await startTcpServer((socket) => socket.once('data', () => socket.write(head)));
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'unexpected_status', status: 101 });
  });

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const other = await startServer((response) => answer(response, orderObject()));
    const { baseUrl, received } = await startServer((response) => {
      response.writeHead(status, { location: `${other.baseUrl}/v2/order/withdraw` }).end();
    });
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'unexpected_status', status });
    expect([received.length, other.received.length]).toEqual([1, 0]);
  });
});

describe('a 200 that is no answer', () => {
  test('is malformed, and sent once', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, '<html>Sign in</html>'));
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'malformed_response' });
    expect(received).toHaveLength(1);
  });

  test('a compressed body that nobody asked for is malformed and not unpacked', async () => {
    const packed = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20));
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    expect(await errorOfCreate(clientFor(baseUrl))).toMatchObject({ code: 'malformed_response' });
  });
});

describe('an unknown order', () => {
  test.each([
    ['400', 400, '{}', 'HTTP 400'],
    ['400 and why', 400, '{"code":7,"message":"order_id: bad format"}', 'HTTP 400: 7: order_id: bad format'],
    ['404', 404, '{}', 'HTTP 404'],
    ['404 of a wrong path', 404, '<h1>Not Found</h1>', 'HTTP 404: Not Found'],
    ['status error', 200, '{"status":"error","message":"unknown order"}', 'HTTP 200: unknown order'],
    ['data null', 200, '{"status":"success","data":null}', 'HTTP 200: {"status":"success","data":null}'],
    ['data []', 200, '{"status":"success","data":[]}', 'HTTP 200: {"status":"success","data":[]}'],
  ])('answered with %s is no order, and what was said', async (_, status, body, said) => {
    const { baseUrl } = await startServer((response) => answer(response, body, status));
    expect(await clientFor(baseUrl).orderStatus({ order_id: 'w-1' })).toEqual({ said });
  });

  test.each([401, 403, 409, 429, 500, 503, 307])('is not told from %i', async (status) => {
    const { baseUrl } = await startServer((response) => answer(response, '{}', status));
    await expect(clientFor(baseUrl).orderStatus({ order_id: 'w-1' })).rejects.toMatchObject({ status });
  });

  test('shown as another one is no answer', async () => {
    const { baseUrl } = await startServer((response) => answer(response, orderObject({ user_order_id: 'other' })));
    for (const query of [{ order_id: 'w-1' }, { order_uuid: 'another' }]) {
      const asked = clientFor(baseUrl).orderStatus(query as never);
      await expect(asked).rejects.toMatchObject({
        code: 'malformed_response',
        message: expect.stringContaining('another order'),
      });
    }
  });

  test('400 and 404 to the list are errors, never an empty list', async () => {
    for (const status of [400, 404]) {
      const { baseUrl } = await startServer((response) => answer(response, '{}', status));
      await expect(
        clientFor(baseUrl)
          .orders()
          .page({ order_ids: ['w-1'] }),
      ).rejects.toMatchObject({ status });
    }
  });
});
