import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { got, type Request } from 'got';
import { systemCodeOf } from '../contract/failures.js';
import { USER_AGENT } from '../contract/names.js';
import { openConnection, type Route } from './connection.js';
import { NoAnswerError, NotSentError, PaymentServiceError } from './errors.js';
import { MAX_BEGINNING_BYTES } from './excerpt.js';
import type { RequestKind } from './limiter.js';

/** Options of one call. */
export interface CallOptions {
  /** Turn to wait for; 'taken': the caller has its turn. Default: a look-up or a create. */
  turn?: RequestKind | 'taken';
  signal?: AbortSignal;
  /**
   * Limit from connecting to the last byte, without the wait for the turn; it begins again after
   * `beforeSend`. Default: `requestTimeoutMs`.
   */
  timeoutMs?: number;
  /**
   * Runs on an open connection right before the request is written. If it throws, nothing is sent.
   */
  beforeSend?: () => void | Promise<void>;
  /** Called with the Date header of every answer. */
  onDate?: (date: string | undefined) => void;
}

/** One HTTP POST. */
interface WireRequest extends Omit<CallOptions, 'turn' | 'onDate'> {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** Maximum size. A longer answer is not read to its end. */
  maxBytes: number;
  timeoutMs: number;
  route: Route;
}

/** Answer: status, lowercase headers, and body (200: whole; 400, 404: start; others: empty). */
export interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Sends a request once. Throws NotSentError if nothing was sent, NoAnswerError if bytes may have
 * been, or the error of `beforeSend`.
 */
export type Transport = (request: WireRequest) => Promise<WireAnswer>;

/** Client without retries: only the caller knows whether a second request may be sent. */
const http = got.extend({
  method: 'POST',
  retry: { limit: 0 },
  followRedirect: false,
  throwHttpErrors: false,
  http2: false,
  decompress: false,
  strictContentLength: true,
  headers: { 'user-agent': USER_AGENT },
});

/** The transport by HTTP, on a connection of its own. */
export const send: Transport = async (request) => {
  const deadline = startDeadline(request.timeoutMs, request.signal);
  let socket: Socket | undefined;
  try {
    socket = await openConnection(request.url, request.route, deadline.signal);
    await request.beforeSend?.();
    if (deadline.signal.aborted) throw new NotSentError(String(deadline.signal.reason));
    // The checks before the send take no time from the answer.
    if (request.beforeSend) deadline.restart();
    if (!socket.writable) throw new NotSentError('closed');
    return await exchange(request, socket, deadline.signal);
  } finally {
    deadline.stop();
    socket?.destroy();
  }
};

/** Bytes may have been sent, so every failure is a NoAnswerError. */
async function exchange(request: WireRequest, socket: Socket, signal: AbortSignal): Promise<WireAnswer> {
  const { url, headers, body, maxBytes } = request;
  const stream = http.stream(url, { headers, body, signal, createConnection: () => socket });
  try {
    const response = await head(stream);
    const status = response.statusCode ?? 0;
    const answer = { status, headers: response.headers };
    if (status === 400 || status === 404) return { ...answer, body: await readBeginning(stream) };
    if (status !== 200) return { ...answer, body: Buffer.alloc(0) };
    if (Number(response.headers['content-length']) > maxBytes) throw new NoAnswerError('response_too_large');
    return { ...answer, body: await readBody(stream, maxBytes) };
  } catch (error) {
    if (error instanceof PaymentServiceError) throw error;
    throw new NoAnswerError(signal.aborted ? String(signal.reason) : systemCodeOf(error));
  } finally {
    stream.destroy();
  }
}

type Head = { statusCode?: number; headers: IncomingHttpHeaders };

function head(stream: Request): Promise<Head> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    // HTTP 101: got would forward the event and wait for ever.
    stream.once('upgrade', resolve);
    // Stays for late errors of a stream that is no longer read.
    stream.on('error', reject);
  });
}

/** Collects an answer. Throws NoAnswerError if it is too large. */
async function readBody(stream: Request, maxBytes: number, chunks: Buffer[] = []): Promise<Buffer> {
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw new NoAnswerError('response_too_large');
  }
  return Buffer.concat(chunks);
}

/** Reads what arrives. Errors do not matter, because the status alone decides. */
async function readBeginning(stream: Request): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await readBody(stream, MAX_BEGINNING_BYTES, chunks).catch(() => undefined);
  return Buffer.concat(chunks).subarray(0, MAX_BEGINNING_BYTES);
}

/** Returns a signal for the time limit and for the caller's cancellation. */
function startDeadline(timeoutMs: number, outer?: AbortSignal) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('timeout'), timeoutMs);
  const abort = () => controller.abort('aborted');
  outer?.addEventListener('abort', abort, { once: true });
  if (outer?.aborted) abort();
  const stop = () => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop, restart: () => timer.refresh() };
}
