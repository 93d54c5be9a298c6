import { once } from 'node:events';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';
import { Connection } from './connection.js';

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
 * Keeps floods from filling a port. When it is full, the connection that has waited longest for its
 * request, or for its answer to be read, makes room: a genuine one waits for milliseconds.
 */
class Connections {
  readonly #open = new Set<Connection>();
  /** In the order in which their waits began. */
  readonly #waiting = new Set<Connection>();
  readonly #check = setInterval(() => this.#cutSlow(), CHECK_INTERVAL_MS).unref();

  constructor(private readonly limits: PortLimits) {}

  /** Returns a new connection; undefined when there is no room for it, and it was closed. */
  open(socket: Socket): Connection | undefined {
    if (this.#open.size >= MAX_CONNECTIONS) {
      const [longest] = this.#waiting;
      if (!longest) {
        this.limits.onCut?.('noRoom');
        socket.resetAndDestroy();
        return undefined;
      }
      this.#cut(longest, 'displaced');
    }
    const connection = new Connection(socket, (own, waits) => this.#wait(own, waits));
    connection.once('close', () => this.#forget(connection));
    this.#open.add(connection);
    this.#waiting.add(connection);
    return connection;
  }

  /** Ends all connections and the search for slow ones. */
  closeAll(): void {
    clearInterval(this.#check);
    for (const connection of this.#open) connection.cut();
  }

  #wait(connection: Connection, waits: boolean): void {
    if (!waits) this.#waiting.delete(connection);
    else if (!connection.destroyed && !this.#waiting.has(connection)) {
      connection.waitsSinceMs = performance.now();
      this.#waiting.add(connection);
    }
  }

  #cutSlow(): void {
    const since = performance.now() - (this.limits.maxWaitMs ?? 5_000);
    for (const connection of this.#waiting) {
      if (connection.waitsSinceMs > since) return;
      this.#cut(connection, 'slow');
    }
  }

  #cut(connection: Connection, why: Cut): void {
    // A connection that has its answer and did not hang up is ended without a report.
    if (!connection.answered) this.limits.onCut?.(why);
    this.#forget(connection);
    connection.cut();
  }

  #forget(connection: Connection): void {
    this.#waiting.delete(connection);
    this.#open.delete(connection);
  }
}

/**
 * Listens, port 0 on a free one: each connection carries one request, and `limits` keep floods from
 * filling the port. What is no HTTP is closed without an answer.
 */
export async function openPort(
  handle: RequestListener,
  limits: PortLimits,
  { host, port }: { host: string; port: number },
): Promise<Port> {
  const connections = new Connections(limits);
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
    const connection = connections.open(socket);
    if (connection) http.emit('connection', connection);
  });
  server.listen({ host, port, backlog: BACKLOG });
  await once(server, 'listening');
  const { address, port: bound } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = setTimeout(() => connections.closeAll(), CLOSE_GRACE_MS);
    await closed;
    clearTimeout(cut);
    connections.closeAll();
  };
  return { url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`, close };
}
