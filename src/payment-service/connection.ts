import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { NotSentError } from './errors.js';

/**
 * Opens one connection and waits until it can carry a request (for https: until the certificate is verified).
 * Whatever fails in here, nothing of a request has left: it is always a NotSentError.
 *
 * A fresh connection per request, never a kept one: a kept socket may be half closed, and a reset on it cannot be told
 * from a reset after the service began to execute. That holds for look-ups too, since a create hangs on its probe.
 * Environment proxies are not looked at: the request goes to the configured host or nowhere.
 */
export function openConnection(url: URL, signal: AbortSignal, caCertificates?: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const socket = secure ? startTls(url, caCertificates) : connectTcp(target(url));
    const abort = () => fail(String(signal.reason));
    const fail = (reason: string) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      reject(new NotSentError(reason));
    };
    signal.addEventListener('abort', abort, { once: true });
    // These listeners stay on: an error between connecting and sending must not end the process.
    socket.on('error', (error) => fail(codeOf(error)));
    socket.on('close', () => fail('closed'));
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
  });
}

function target(url: URL) {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, noDelay: true };
}

function startTls(url: URL, ca?: string): Socket {
  const { host, ...rest } = target(url);
  return connectTls({
    ...rest,
    host,
    ca,
    servername: isIP(host) ? undefined : host,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment cannot switch it off.
    rejectUnauthorized: true,
  });
}

/** The system's or Node's code of an error, such as ECONNRESET; never its message, which may quote data. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'failed';
}
