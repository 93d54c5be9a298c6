import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { got, type Request } from 'got';
import { systemCodeOf } from '../contract/not-written.js';
import { openConnection, type Route } from './connection.js';
import { NoAnswerError, NotSentError, PaymentServiceError } from './errors.js';
import { MAX_BEGINNING_BYTES } from './excerpt.js';
import type { RequestKind } from './limiter.js';

/** Options of a single call. */
export interface CallOptions {
  /** What it waits for its turn as; 'taken': it has its turn. A look-up, or a create, when not given. */
  turn?: RequestKind | 'taken';
  signal?: AbortSignal;
  /** From connecting to the answer's last byte, without the rate limit's wait; replaces `requestTimeoutMs`. */
  timeoutMs?: number;
  /** Runs on an open connection, right before the request is written. When it throws, nothing is sent and its error comes out. */
  beforeSend?: () => void | Promise<void>;
  /** Told the service's clock, whatever it answers. */
  onDate?: (date: string | undefined) => void;
}

/** One HTTP POST. */
interface WireRequest extends Omit<CallOptions, 'turn' | 'onDate'> {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** A longer answer is not read to its end. */
  maxBytes: number;
  timeoutMs: number;
  route: Route;
}

/** Status, headers (lowercase) and the body: whole for 200, the beginning for 400 and 404, empty for all others. */
interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Node fires longer timers at once. */
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
    socket = await openConnection(request.url, request.route, deadline.signal);
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
    // HTTP 101: got passes the event on and would then wait for ever.
    stream.once('upgrade', resolve);
    // Stays on for late errors of a stream that nobody reads any more.
    stream.on('error', reject);
  });
}

/** Collects an answer in `chunks`. Throws NoAnswerError for one that is larger. */
async function readBody(stream: Request, maxBytes: number, chunks: Buffer[] = []): Promise<Buffer> {
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw new NoAnswerError('response_too_large');
  }
  return Buffer.concat(chunks);
}

/** As much as comes: the status was answered, so that nothing that happens to the body changes what it means. */
async function readBeginning(stream: Request): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await readBody(stream, MAX_BEGINNING_BYTES, chunks).catch(() => undefined);
  return Buffer.concat(chunks).subarray(0, MAX_BEGINNING_BYTES);
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
