import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';
import { Connection, type Connections } from './connection.js';

/** Largest request line and headers. */
const MAX_HEADER_BYTES = 8 * 1024;

/** Connections open at once. */
export const MAX_CONNECTIONS = 1_000;

const CHECK_INTERVAL_MS = 250;

// Longer than the 2 s that a callback may take.
const CLOSE_GRACE_MS = 3_000;

/** Connections that the system keeps ready while the process is busy. */
const BACKLOG = 1_024;

/** Why a connection was closed without an answer: too late, to make room for another one, or for want of room. */
export type Cut = 'slow' | 'displaced' | 'noRoom';

/** Limits of a port. `onCut`: called for each connection that is cut. */
interface PortLimits {
  /** Time for headers and body together, and again for the reading of the answer. */
  maxWaitMs?: number;
  onCut?: (why: Cut) => void;
}

/** A listening port. `close` lets requests under way finish, and half-sent ones for a while. */
export interface Port {
  url: string;
  close: () => Promise<void>;
}

/**
 * Listens, port 0 on a free one: each connection carries one request, and what is no HTTP is closed without an answer. When the
 * port is full, the connection that has waited longest for its sender makes room: a genuine one waits for milliseconds.
 */
export async function openPort(
  handle: RequestListener,
  limits: PortLimits,
  { host, port }: { host: string; port: number },
): Promise<Port> {
  const all: Connections = { open: new Set(), waiting: new Set() };
  const cut = (connection: Connection, why: Cut): void => {
    // A connection that has its answer and did not hang up is ended without a report.
    if (!connection.answered) limits.onCut?.(why);
    connection.cut();
  };
  const http = createHttp({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false }, (request, response) => {
    const connection: unknown = request.socket;
    // A second request within one piece: the first one gets its answer, this one nothing.
    if (!(connection instanceof Connection) || connection.response) return;
    connection.response = response;
    response.shouldKeepAlive = false;
    handle(request, response);
  });
  http.on('clientError', (_error, connection) => {
    if (connection instanceof Connection && !connection.request?.complete) connection.destroy();
  });
  // Half open: whoever ends its side behind its request still gets the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    // A reset is one of the ways in which a connection ends.
    socket.on('error', () => undefined);
    const [longest] = all.waiting;
    if (all.open.size >= MAX_CONNECTIONS && !longest) {
      limits.onCut?.('noRoom');
      socket.resetAndDestroy();
      return;
    }
    if (all.open.size >= MAX_CONNECTIONS && longest) cut(longest, 'displaced');
    http.emit('connection', new Connection(socket, all));
  });
  const check = setInterval(() => {
    const since = performance.now() - (limits.maxWaitMs ?? 5_000);
    for (const connection of all.waiting) {
      if (connection.waitsSinceMs > since) return;
      cut(connection, 'slow');
    }
  }, CHECK_INTERVAL_MS).unref();
  server.listen({ host, port, backlog: BACKLOG });
  await once(server, 'listening');
  const { address, port: bound } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cutAll = () => all.open.forEach((connection) => void connection.cut());
    const late = setTimeout(cutAll, CLOSE_GRACE_MS);
    await closed;
    clearTimeout(late);
    clearInterval(check);
  };
  return { url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`, close };
}

/** Length of a body as its request says it; one whose length is not told might have `maxBytes`. */
export const announcedBytes = ({ headers }: IncomingMessage, maxBytes: number): number =>
  Number(headers['content-length'] ?? maxBytes);

/** Reads a body; 'tooLarge' above `maxBytes`, 'gone' when its sender ended before it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'tooLarge' | 'gone'> {
  return new Promise((resolve) => {
    // In one piece: hundreds of small ones take several times as much memory, of as many senders as may wait.
    const body = Buffer.allocUnsafe(announcedBytes(request, maxBytes));
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      if (bytes + chunk.length > body.length) resolve('tooLarge');
      bytes += chunk.copy(body, bytes);
    });
    request.on('end', () => resolve(body.subarray(0, bytes)));
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}
