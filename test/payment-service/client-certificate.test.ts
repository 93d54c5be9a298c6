import { describe, expect, onTestFinished, test } from 'vitest';
import type { RouteOptions } from '../../src/payment-service/connection.js';
import {
  CLIENT_CERTIFICATE,
  CLIENT_EXPIRED_CERTIFICATE,
  CLIENT_FOREIGN_CERTIFICATE,
  CLIENT_KEY,
  TLS_CERTIFICATE,
  TLS_KEY,
} from './certificates.fixture.js';
import { withdrawRequest } from './objects.fixture.js';
import { clientFor, listen } from './server.fixture.js';
import { CLIENTS_DEMANDED, createTlsService, startProxy, type Tunnel } from './tunnel.fixture.js';

const SHOWN: [string, RouteOptions['clientCertificate']][] = [
  ['none', undefined],
  ['an expired one', { chain: CLIENT_EXPIRED_CERTIFICATE, key: CLIENT_KEY }],
  ['one of another authority', { chain: CLIENT_FOREIGN_CERTIFICATE, key: CLIENT_KEY }],
];

/** A service that demands a certificate, and creates an order there; `refused` resolves once it refused a client. */
async function openService(options: object = {}) {
  const { server, reached } = createTlsService({ ...CLIENTS_DEMANDED, ...options });
  const refused = new Promise<void>((resolve) => server.once('tlsClientError', () => resolve()));
  const url = `https://localhost:${await listen(server)}`;
  const create = (route: RouteOptions, beforeSend?: () => Promise<void>): Promise<unknown> =>
    clientFor(url, { caCertificates: TLS_CERTIFICATE, requestTimeoutMs: 20_000, ...route })
      .createOrder('withdraw', withdrawRequest(), { beforeSend })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  return { create, reached, refused };
}

describe('a service that demands client certificates', () => {
  test.for(['TLSv1.2', 'TLSv1.3'] as const)('gets ours by %s', async (maxVersion) => {
    const { create, reached } = await openService({ maxVersion });
    expect(await create({ clientCertificate: { chain: CLIENT_CERTIFICATE, key: CLIENT_KEY } })).toBeUndefined();
    expect(reached.map(({ client }) => client)).toEqual(['payments-worker']);
  });

  test.for(SHOWN)(
    'and is shown %s: by TLS 1.2 it refuses in the handshake, so that nothing was sent',
    async ([, clientCertificate]) => {
      const { create, reached } = await openService({ maxVersion: 'TLSv1.2' });
      expect(await create({ clientCertificate })).toMatchObject({ code: 'not_sent' });
      expect(reached).toEqual([]);
    },
  );

  test.for(SHOWN)(
    'and is shown %s: by TLS 1.3 it refuses after our handshake; noticed in time, nothing was sent',
    async ([, clientCertificate]) => {
      const { create, reached, refused } = await openService();
      const beforeSend = async () => {
        await refused;
        await new Promise((resolve) => setTimeout(resolve, 500));
      };
      expect(await create({ clientCertificate }, beforeSend)).toMatchObject({ code: 'not_sent', reason: 'closed' });
      expect(reached).toEqual([]);
    },
  );

  test('by TLS 1.3 a refusal that comes behind the request is uncertain, since bytes of it have left', async () => {
    const { create, reached } = await openService();
    // Holds back what the service says to the end of our handshake, until the request has passed.
    const holds = async ({ near, open }: Tunnel) => {
      const far = await open();
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      let sent = Number.NaN;
      far.once('data', (flight: Buffer) => {
        far.pause();
        near.write(flight);
        sent = 0;
      });
      near.on('data', (data: Buffer) => {
        far.write(data);
        sent += data.length;
        // The end of the handshake without a certificate has less than 200 bytes, the request more than 400.
        if (sent > 300) far.pipe(near);
      });
    };
    const proxy = await startProxy(holds);
    onTestFinished(() => proxy.close());
    expect(await create({ proxy: { host: '127.0.0.1', port: proxy.port } })).toMatchObject({
      code: 'no_answer',
      reason: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    });
    expect(reached).toEqual([]);
  });
});

test('only the named authorities are trusted', async () => {
  const { create, reached } = await openService({ requestCert: false });
  expect(await create({ caCertificates: CLIENT_FOREIGN_CERTIFICATE })).toMatchObject({ code: 'not_sent' });
  expect(reached).toEqual([]);
});

test.for<[string, RouteOptions]>([
  ['a certificate of another key', { clientCertificate: { chain: CLIENT_CERTIFICATE, key: TLS_KEY } }],
  ['a key that is none', { clientCertificate: { chain: CLIENT_CERTIFICATE, key: 'zz-key' } }],
])('%s: said at once, without it', ([, route]) => {
  expect(() => clientFor('https://localhost:9', route)).toThrow(
    new TypeError('certificate, key or authorities cannot be used'),
  );
});
