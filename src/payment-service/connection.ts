import { request as httpRequest } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { systemCodeOf } from '../contract/failures.js';
import { NotSentError } from './errors.js';

/** Custom route to the service; default: direct, built-in authorities. */
export interface RouteOptions {
  /** PEM text of the authorities to trust instead of the built-in ones. */
  caCertificates?: string;
  /** PEM texts of the client certificate (with its chain) and of its key. */
  clientCertificate?: { chain: string; key: string };
  /** Proxy that tunnels (CONNECT), for https only. */
  proxy?: { host: string; port: number; credentials?: string };
}

/** Prepared route; undefined for http. */
export type Route = { secureContext: SecureContext; proxy?: RouteOptions['proxy'] } | undefined;

/** Prepares a route. Throws a TypeError for unusable parts, without quoting them. */
export function createRoute(baseUrl: string, { caCertificates, clientCertificate, proxy }: RouteOptions): Route {
  if (!baseUrl.startsWith('https:')) {
    if (caCertificates === undefined && !clientCertificate && !proxy) return undefined;
    throw new TypeError('certificates and a proxy need an https baseUrl');
  }
  const { chain: cert, key } = clientCertificate ?? {};
  try {
    return { secureContext: createSecureContext({ ca: caCertificates, cert, key, minVersion: 'TLSv1.2' }), proxy };
  } catch {
    throw new TypeError('certificate, key or authorities cannot be used');
  }
}

/**
 * Opens a connection for one request. Every failure is a NotSentError, because nothing was sent.
 * Kept connections would blur this: a reset could come after execution began.
 */
export async function openConnection(url: URL, route: Route, signal: AbortSignal): Promise<Socket> {
  const target = targetOf(url);
  if (!route) return opened(connectTcp(target), 'connect', signal);
  const { secureContext, proxy } = route;
  const socket = proxy && (await openTunnel(proxy, `${url.hostname}:${target.port}`, signal));
  const secure = connectTls({
    ...(socket ? { socket } : target),
    host: target.host,
    secureContext,
    servername: isIP(target.host) ? undefined : target.host,
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment cannot switch it off.
    rejectUnauthorized: true,
  });
  return opened(secure, 'secureConnect', signal);
}

/** Resolves to `socket` when it emits `event`. */
const opened = (socket: Socket, event: string, signal: AbortSignal, where?: string): Promise<Socket> =>
  afterStep(socket, signal, where, (done, fail) => {
    // The listener stays: a later error must not end the process.
    socket.on('error', (error) => fail(systemCodeOf(error)));
    socket.on('close', () => fail('closed'));
    socket.once(event, done);
  });

type Step = (done: () => void, fail: (reason: string) => void) => void;

/** Resolves to `socket` after `step`. A failure destroys the socket; `where` starts its reason. */
function afterStep(socket: Socket, signal: AbortSignal, where = '', step: Step): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = () => fail(String(signal.reason));
    const fail = (reason: string) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      reject(new NotSentError(where + reason));
    };
    signal.addEventListener('abort', abort, { once: true });
    step(() => {
      signal.removeEventListener('abort', abort);
      resolve(socket);
    }, fail);
    if (signal.aborted) abort();
  });
}

/** Prefix of the reason for a failure at the proxy. */
const AT_PROXY = 'proxy: ';

/**
 * Opens a tunnel with node:http. Agent libraries return a proxy's refusal as the service's answer.
 */
async function openTunnel(
  { host, port, credentials }: NonNullable<RouteOptions['proxy']>,
  authority: string,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await opened(connectTcp({ host, port, noDelay: true }), 'connect', signal, AT_PROXY);
  const headers = {
    host: authority,
    ...(credentials && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
  };
  return afterStep(socket, signal, AT_PROXY, (done, fail) => {
    const request = httpRequest({ method: 'CONNECT', path: authority, headers, createConnection: () => socket });
    request.on('error', (error) => fail(systemCodeOf(error)));
    // Emitted for every answer to CONNECT, whatever its status.
    request.once('connect', ({ statusCode = 0 }, _, early: Buffer) => {
      if (statusCode < 200 || statusCode > 299) fail(`HTTP ${statusCode}`);
      // In a tunnel, the client speaks first, so these bytes are not the service's.
      else if (early.length > 0) fail('sent bytes of its own');
      else done();
    });
    request.end();
  });
}

function targetOf(url: URL) {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, noDelay: true };
}
