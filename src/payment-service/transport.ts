import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { got, type Request } from 'got';
import { NoAnswerError, NotSentError, PaymentServiceError } from './errors.js';

/** Options of a single call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** From connecting to the answer's last byte, without the rate limit's wait; replaces `requestTimeoutMs`. */
  timeoutMs?: number;
  /** Runs on an open connection, right before the request is written. When it throws, nothing is sent and its error comes out. */
  beforeSend?: () => void | Promise<void>;
}

/** One HTTP POST. */
interface WireRequest extends CallOptions {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** A longer answer is not read to its end. */
  maxBytes: number;
  timeoutMs: number;
  caCertificates?: string;
}

/** Status, headers (lowercase) and the body: whole for 200, the beginning for 400 and 404, empty for all others. */
interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends once. Retries belong to the caller, who knows whether a second request may do harm; redirects to nobody. */
const http = got.extend({
  method: 'POST',
  retry: { limit: 0 },
  followRedirect: false,
  throwHttpErrors: false,
  http2: false,
  decompress: false,
  strictContentLength: true,
  headers: { 'user-agent': undefined },
});

/** Sends a request once. Throws NotSentError, NoAnswerError, or what `beforeSend` threw. */
export async function send(request: WireRequest): Promise<WireAnswer> {
  const deadline = startDeadline(request.timeoutMs, request.signal);
  let socket: Socket | undefined;
  try {
    socket = await openConnection(request.url, deadline.signal, request.caCertificates);
    await request.beforeSend?.();
    if (deadline.signal.aborted) throw new NotSentError(String(deadline.signal.reason));
    if (!socket.writable) throw new NotSentError('closed');
    return await exchange(request, socket, deadline.signal);
  } finally {
    deadline.stop();
    socket?.destroy();
  }
}

/** From here on bytes may have left: every failure is a NoAnswerError. */
async function exchange(request: WireRequest, socket: Socket, signal: AbortSignal): Promise<WireAnswer> {
  const { url, headers, body, maxBytes } = request;
  const stream = http.stream(url, { headers, body, signal, createConnection: () => socket });
  try {
    const response = await head(stream);
    const status = response.statusCode ?? 0;
    const answer = { status, headers: response.headers };
    if (status === 400 || status === 404) return { ...answer, body: await readBeginning(stream) };
    if (status !== 200) return { ...answer, body: Buffer.alloc(0) };
    return { ...answer, body: await readBody(stream, response.headers['content-length'], maxBytes) };
  } catch (error) {
    if (error instanceof PaymentServiceError) throw error;
    throw new NoAnswerError(signal.aborted ? String(signal.reason) : codeOf(error));
  } finally {
    stream.destroy();
  }
}

type Head = { statusCode?: number; headers: IncomingHttpHeaders };

function head(stream: Request): Promise<Head> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    // HTTP 101: got passes the event on and would then wait for ever.
    stream.once('upgrade', resolve);
    // Stays on for late errors of a stream that nobody reads any more.
    stream.on('error', reject);
  });
}

/** Most that is read of an answer that says why there is no order. */
const MAX_BEGINNING_BYTES = 16 * 1024;

/** As much as comes: the status was answered, so that nothing that happens to the body changes what it means. */
async function readBeginning(stream: Request): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BEGINNING_BYTES) break;
    }
  } catch {
    // Cut off, reset or too slow.
  }
  return Buffer.concat(chunks).subarray(0, MAX_BEGINNING_BYTES);
}

async function readBody(stream: Request, announced: string | undefined, maxBytes: number): Promise<Buffer> {
  if (Number(announced) > maxBytes) throw new NoAnswerError('response_too_large');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new NoAnswerError('response_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** One signal for "time is up" and "the caller gave up"; its reason is the word that errors show. */
function startDeadline(timeoutMs: number, outer?: AbortSignal): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('timeout'), timeoutMs);
  const abort = () => controller.abort('aborted');
  outer?.addEventListener('abort', abort, { once: true });
  if (outer?.aborted) abort();
  const stop = () => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}

/**
 * Opens one connection and waits until it can carry a request (for https: until the certificate is verified).
 * Whatever fails in here, nothing of a request has left: it is always a NotSentError.
 *
 * A fresh connection per request, never a kept one: a kept socket may be half closed, and a reset on it cannot be told
 * from a reset after the service began to execute. That holds for look-ups too, since a create hangs on its probe.
 * Environment proxies are not looked at: the request goes to the configured host or nowhere.
 */
function openConnection(url: URL, signal: AbortSignal, caCertificates?: string): Promise<Socket> {
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
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'failed';
}
