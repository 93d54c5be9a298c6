import { once } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CallOptions } from '../../src/payment-service/transport.js';
import { CLIENT_CERTIFICATE, CLIENT_FOREIGN_CERTIFICATE, CLIENT_KEY, TLS_CERTIFICATE } from './certificates.fixture.js';
import { withdrawRequest } from './objects.fixture.js';
import { clientFor, listen } from './server.fixture.js';
import {
  answers,
  CLIENTS_DEMANDED,
  createTlsService,
  OPENED,
  passes,
  passesBytes,
  startProxy,
  type TestProxy,
  type Tunnel,
} from './tunnel.fixture.js';

const PASSWORD = 'p@ss:word-zz';
const CREDENTIALS = `worker:${PASSWORD}`;
/** Everything that no error may show. */
const SECRETS = [PASSWORD, Buffer.from(CREDENTIALS).toString('base64'), CLIENT_KEY.split('\n')[1] ?? ''];

/** A service that demands a certificate, a proxy before it, and a client that has both. */
async function openLine(rule: TestProxy['rule'] = passes, before?: Parameters<typeof createTlsService>[1]) {
  const { server, reached } = createTlsService(CLIENTS_DEMANDED, before);
  const port = await listen(server);
  const proxy = await startProxy(rule);
  onTestFinished(() => proxy.close());
  const service = clientFor(`https://localhost:${port}`, {
    caCertificates: TLS_CERTIFICATE,
    clientCertificate: { chain: CLIENT_CERTIFICATE, key: CLIENT_KEY },
    proxy: { host: '127.0.0.1', port: proxy.port, credentials: CREDENTIALS },
    requestTimeoutMs: 20_000,
  });
  const create = async (options: CallOptions = {}) => {
    const error = await service.createOrder('withdraw', withdrawRequest(), options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const shown = `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}`;
    for (const secret of SECRETS) expect(shown).not.toContain(secret);
    return error as { code: string; reason: string } | undefined;
  };
  return { port, reached, proxy, service, create };
}

describe('through a proxy', () => {
  test('each request asks for a tunnel of its own, which is closed after it; the proxy’s secret stays there', async () => {
    const { port, reached, proxy, create } = await openLine();
    expect(await create()).toBeUndefined();
    expect(await create()).toBeUndefined();
    const basic = Buffer.from(CREDENTIALS).toString('base64');
    expect(proxy.asked).toHaveLength(2);
    for (const asked of proxy.asked) {
      expect(asked.split('\r\n').slice(0, 3)).toEqual([
        `CONNECT localhost:${port} HTTP/1.1`,
        `host: localhost:${port}`,
        `proxy-authorization: Basic ${basic}`,
      ]);
      expect(asked).not.toMatch(/api-key|signature/i);
    }
    expect(reached.map(({ client }) => client)).toEqual(['payments-worker', 'payments-worker']);
    for (const { headers } of reached) expect(JSON.stringify(headers)).not.toMatch(/proxy/i);
    await expect.poll(() => proxy.open(), { timeout: 20_000 }).toBe(0);
  });

  test('a tunnel that opens late, or byte by byte, is waited for', async () => {
    const late = async (tunnel: Tunnel) => {
      const far = await tunnel.open();
      tunnel.near.pipe(far);
      for (const byte of OPENED) {
        tunnel.near.write(byte);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      far.pipe(tunnel.near);
    };
    const { reached, proxy, create } = await openLine(late);
    expect(await create()).toBeUndefined();
    expect([reached.length, proxy.asked.length]).toEqual([1, 1]);
  });

  test('proxies of the environment are no proxies, and their exceptions no exceptions', async () => {
    const other = await startProxy();
    onTestFinished(() => other.close());
    const names = ['http_proxy', 'https_proxy', 'all_proxy', 'global_agent_https_proxy'];
    for (const name of names.flatMap((lower) => [lower, lower.toUpperCase()])) {
      vi.stubEnv(name, `http://127.0.0.1:${other.port}`);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '*,localhost,127.0.0.1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { port, reached, proxy, create } = await openLine();
    expect(await create()).toBeUndefined();
    expect([proxy.asked.length, other.asked.length, reached.length]).toEqual([1, 0, 1]);
    const direct = clientFor(`https://localhost:${port}`, {
      caCertificates: TLS_CERTIFICATE,
      clientCertificate: { chain: CLIENT_CERTIFICATE, key: CLIENT_KEY },
    });
    await direct.createOrder('withdraw', withdrawRequest());
    expect([proxy.asked.length, other.asked.length, reached.length]).toEqual([1, 0, 2]);
  });

  test('a service in the clear is refused before anything is asked', async () => {
    const proxy = { host: '127.0.0.1', port: 1, credentials: CREDENTIALS };
    const open = () => clientFor('http://127.0.0.1:9', { proxy });
    expect(open).toThrow(new TypeError('certificates and a proxy need an https baseUrl'));
  });
});

/** Answers with a status and more, which may look like an answer of the service. */
const status = (line: string, more = 'content-length: 2\r\n\r\n{}'): [string, string, TestProxy['rule']] => [
  line,
  `proxy: HTTP ${line.slice(0, 3)}`,
  answers(`HTTP/1.1 ${line}\r\n${more}`),
];

/** Never comes to the end of its head. */
const drips: TestProxy['rule'] = ({ near }) => {
  near.write('HTTP/1.1 200 OK\r\nx: ');
  const drip = setInterval(() => near.write('y'), 20);
  near.on('close', () => clearInterval(drip));
};

const ORDER = '{"status":"success","data":{"order_uuid":"3f0c8c2e-5b8e-4f0e-9d6a-000000000001"}}';

describe('a proxy that opens no tunnel to the service: provably not sent, asked once', () => {
  test.for<[string, string | RegExp, TestProxy['rule']]>([
    status('403 Forbidden'),
    status('407 Proxy Authentication Required', 'proxy-authenticate: Basic realm=x\r\n\r\n'),
    status('502 Bad Gateway'),
    // Said by the service these would be verdicts about the order.
    status('400 Bad Request'),
    status('429 Too Many Requests', 'retry-after: 60\r\n\r\n'),
    status('301 Moved', 'location: http://127.0.0.1:1/\r\n\r\n'),
    status('100 Continue', '\r\n'),
    status('101 Switching Protocols', 'upgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ['something that is no HTTP', /^proxy: HPE_/, answers('SSH-2.0-x\r\n\r\n')],
    ['a head without an end', /^proxy: HPE_HEADER_OVERFLOW$/, answers(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(99_999)}`)],
    ['nothing, and closes', /^proxy: (ECONNRESET|closed)$/, answers('')],
    ['with a reset', /^proxy: (ECONNRESET|closed)$/, ({ near }) => void near.resetAndDestroy()],
    [
      '200 and an order',
      'proxy: sent bytes of its own',
      answers(`HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n${ORDER}`),
    ],
    ['200, and closes', /^(ECONNRESET|closed)$/, answers(OPENED)],
    [
      '200, and an answer instead of TLS',
      /^ERR_SSL_|^EPROTO$/,
      ({ near }) => {
        near.write(OPENED);
        near.once('data', () => near.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
      },
    ],
  ])('%s', async ([, reason, rule]) => {
    const { reached, proxy, create } = await openLine(rule);
    expect(await create()).toMatchObject({
      code: 'not_sent',
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
    expect([reached.length, proxy.asked.length]).toEqual([0, 1]);
    await expect.poll(() => proxy.open(), { timeout: 20_000 }).toBe(0);
  });

  test('one that leads to another name than the one asked for, also where that is an address', async () => {
    const { port, reached, proxy } = await openLine();
    const service = clientFor(`https://127.0.0.1:${port}`, {
      caCertificates: TLS_CERTIFICATE,
      proxy: { host: '127.0.0.1', port: proxy.port },
    });
    await expect(service.createOrder('withdraw', withdrawRequest())).rejects.toMatchObject({
      code: 'not_sent',
      reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(proxy.asked).toEqual([expect.stringMatching(new RegExp(`^CONNECT 127\\.0\\.0\\.1:${port} `))]);
    expect(reached).toHaveLength(0);
  });

  test.for<[string, string, TestProxy['rule']]>([
    ['says nothing', 'proxy: timeout', () => undefined],
    ['drips', 'proxy: timeout', drips],
    ['says half of it', 'proxy: timeout', ({ near }) => void near.write(OPENED.slice(0, -2))],
    ['opens and passes nothing on', 'timeout', ({ near }) => void near.write(OPENED)],
  ])('one that %s, when the time is up', async ([, reason, rule]) => {
    const { reached, proxy, create } = await openLine(rule);
    expect(await create({ timeoutMs: 2_000 })).toMatchObject({ code: 'not_sent', reason });
    expect(reached).toHaveLength(0);
    await expect.poll(() => proxy.open(), { timeout: 20_000 }).toBe(0);
  });

  test('when the caller gives up meanwhile', async () => {
    const caller = new AbortController();
    const { reached, create } = await openLine(() => caller.abort());
    expect(await create({ signal: caller.signal })).toMatchObject({ code: 'not_sent', reason: 'proxy: aborted' });
    expect(reached).toHaveLength(0);
  });

  test.for([
    ['of its own', { cert: CLIENT_FOREIGN_CERTIFICATE }, /^(DEPTH_ZERO_SELF_SIGNED_CERT|INVALID_PURPOSE)$/],
    [
      'of our authority for another name',
      { cert: CLIENT_CERTIFICATE },
      /^(ERR_TLS_CERT_ALTNAME_INVALID|INVALID_PURPOSE)$/,
    ],
  ] as const)('one that leads to a service with a certificate %s', async ([, shown, reason]) => {
    const other = createTlsService({ ...shown, key: CLIENT_KEY });
    const port = await listen(other.server);
    const { reached, create } = await openLine((tunnel) => tunnel.pass(port));
    expect(await create()).toMatchObject({ code: 'not_sent', reason: expect.stringMatching(reason) });
    expect([reached.length, other.reached.length]).toEqual([0, 0]);
  });
});

describe('a tunnel that breaks', () => {
  test.for(['destroy', 'resetAndDestroy'] as const)(
    'anywhere on the way to the service: sent at most once, and never said to be not sent when it arrived (%s)',
    async (how) => {
      let total = 0;
      const line = await openLine(async (tunnel) => {
        tunnel.near.on('data', (data: Buffer) => {
          total += data.length;
        });
        await tunnel.pass();
      });
      expect(await line.create()).toBeUndefined();
      const seen = new Set<string>();
      // The last bytes may be the end of TLS, which nobody needs.
      const places = [0, 1, total - 100, total - 60, total - 31, total - 25, total, total + 1];
      for (let place = 100; place < total; place += 90) places.push(place);
      for (const place of places) {
        const before = line.reached.length;
        line.proxy.rule = passesBytes(place, how);
        const code = (await line.create())?.code ?? 'answered';
        const reached = line.reached.length - before;
        seen.add(`${code} ${reached}`);
        expect(reached, `cut after ${place} bytes`).toBeLessThanOrEqual(1);
        if (code === 'not_sent') expect(reached, `cut after ${place} bytes`).toBe(0);
      }
      expect([...seen]).toEqual(expect.arrayContaining(['not_sent 0', 'no_answer 0']));
      expect(line.proxy.asked).toHaveLength(1 + places.length);
    },
  );

  test.for(['after the whole request arrived', 'amid the answer'] as const)(
    '%s: uncertain, and sent once',
    async (when) => {
      const line = await openLine(passes, (socket) => {
        if (when === 'amid the answer') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"sta');
        setTimeout(() => line.proxy.cut(socket.remotePort), 100);
        return false;
      });
      expect(await line.create()).toMatchObject({ code: 'no_answer' });
      expect([line.reached.length, line.proxy.asked.length]).toEqual([1, 1]);
    },
  );

  test('after TLS is ready and before the request is written: not sent', async () => {
    const far: number[] = [];
    const line = await openLine(async (tunnel) => void far.push((await tunnel.pass()).localPort ?? 0));
    const beforeSend = async () => {
      const closed = expect.poll(() => line.proxy.open(), { timeout: 20_000 }).toBe(0);
      line.proxy.cut(far[0]);
      await closed;
      // The news of it takes another turn of the loop to come in.
      await once(AbortSignal.timeout(200), 'abort');
    };
    expect(await line.create({ beforeSend })).toMatchObject({ code: 'not_sent', reason: 'closed' });
    expect(line.reached).toHaveLength(0);
  });

  test('when the time is up after the request was written: uncertain', async () => {
    const line = await openLine(passes, () => false);
    expect(await line.create({ timeoutMs: 6_000 })).toMatchObject({ code: 'no_answer', reason: 'timeout' });
    expect(line.reached).toHaveLength(1);
    await expect.poll(() => line.proxy.open(), { timeout: 20_000 }).toBe(0);
  });
});
