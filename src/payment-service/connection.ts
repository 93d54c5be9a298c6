import { request as httpRequest } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { systemCodeOf } from '../contract/failures.js';
import { NotSentError } from './errors.js';

/** How the service is reached, where that is not directly, without a certificate and with the built-in authorities. */
export interface RouteOptions {
  /** PEM text of the authorities to trust instead of the built-in ones. */
  caCertificates?: string;
  /** PEM texts of the certificate (with its chain) that is shown to the service, and of its key. */
  clientCertificate?: { chain: string; key: string };
  /** The proxy that tunnels (CONNECT); for https only. */
  proxy?: { host: string; port: number; credentials?: string };
}

/** The same, ready for use; undefined = in the clear. */
export type Route = { secureContext: SecureContext; proxy?: RouteOptions['proxy'] } | undefined;

/** Throws a TypeError for a certificate, key, authority or proxy that cannot be used, without repeating it. */
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
 * Opens a connection for one request. Whatever fails, nothing has left: always NotSentError.
 * A reset on a kept socket could not be told from one after the service began to execute.
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
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment cannot switch it off.
    rejectUnauthorized: true,
  });
  return opened(secure, 'secureConnect', signal);
}

/** `socket` once it emits `event`. */
const opened = (socket: Socket, event: string, signal: AbortSignal, where?: string): Promise<Socket> =>
  afterStep(socket, signal, where, (done, fail) => {
    // These listeners stay on: an error between connecting and sending must not end the process.
    socket.on('error', (error) => fail(systemCodeOf(error)));
    socket.on('close', () => fail('closed'));
    socket.once(event, done);
  });

type Step = (done: () => void, fail: (reason: string) => void) => void;

/** `socket` once `step` is done; `where` begins the reason of a failure, after which the socket is destroyed. */
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

/** Begins the reason of what failed on the way to the service. */
const AT_PROXY = 'proxy: ';

/** Opens a tunnel by node:http: agents' libraries make a proxy's refusal look like the service's. */
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
    // Emitted for every answer to a CONNECT, whatever its status.
    request.once('connect', ({ statusCode = 0 }, _, early: Buffer) => {
      if (statusCode < 200 || statusCode > 299) fail(`HTTP ${statusCode}`);
      // Behind a tunnel the client speaks first: what came before is not of the service.
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
