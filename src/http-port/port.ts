import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';
import { Connection, type Connections } from './connection.js';

/** Maximum size of the request line and headers. */
const MAX_HEADER_BYTES = 8 * 1024;

/** Maximum open connections. */
export const MAX_CONNECTIONS = 1_000;

const CHECK_INTERVAL_MS = 250;

// Longer than the 2 s of a callback.
const CLOSE_GRACE_MS = 3_000;

/** Connections that the system queues while the process is busy. */
const BACKLOG = 1_024;

/** Cause of a cut: too slow, displaced by another connection, or no room. */
export type Cut = 'slow' | 'displaced' | 'noRoom';

/** Limits of a port. `onCut`: called for each cut. */
interface PortLimits {
  /** Time for headers and body, and again for reading the answer. */
  maxWaitMs?: number;
  onCut?: (why: Cut) => void;
}

/** Listening port. `close` lets current requests finish, and half-sent ones for a while. */
export interface Port {
  url: string;
  /** Returns the number of open connections, and of those that no other one can displace. */
  connections: () => { open: number; underWay: number };
  close: () => Promise<void>;
}

/**
 * Listens; port 0 takes a free one. Each connection carries one request, and anything but HTTP is
 * closed without an answer. If the port is full, the connection with the longest wait for its
 * sender is cut: a genuine one waits for milliseconds.
 */
export async function openPort(
  handle: RequestListener,
  limits: PortLimits,
  { host, port }: { host: string; port: number },
): Promise<Port> {
  const all: Connections = { open: new Set(), waiting: new Set() };
  const cut = (connection: Connection, why: Cut): void => {
    // A connection that stays open after its answer ends without a report.
    if (!connection.answered) limits.onCut?.(why);
    connection.cut();
  };
  const http = createHttp({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false }, (request, response) => {
    const connection: unknown = request.socket;
    // A second request in the same piece gets no answer.
    if (!(connection instanceof Connection) || connection.response) return;
    connection.response = response;
    response.shouldKeepAlive = false;
    handle(request, response);
  });
  http.on('clientError', (_error, connection) => {
    if (connection instanceof Connection && !connection.request?.complete) connection.destroy();
  });
  // Half open, so that a sender that closes its side still gets the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    // A reset is a normal end of a connection.
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
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`,
    connections: () => ({ open: all.open.size, underWay: all.open.size - all.waiting.size }),
    close,
  };
}

/** Returns the announced length of a body. Without one, it might be `maxBytes`. */
export const announcedBytes = ({ headers }: IncomingMessage, maxBytes: number): number =>
  Number(headers['content-length'] ?? maxBytes);

/** Reads a body: 'tooLarge' above `maxBytes`, 'gone' if the sender disconnected. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'tooLarge' | 'gone'> {
  return new Promise((resolve) => {
    // One buffer, because hundreds of small ones take several times as much memory.
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
