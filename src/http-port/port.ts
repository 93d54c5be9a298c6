import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';
import { Connection } from './connection.js';
import { type Connections, PROXY } from './connections.js';
import { isListed, type SenderRules, senderKey } from './senders.js';

// Longer than the 2 s that a callback may take.
const CLOSE_GRACE_MS = 3_000;

/** Connections that the system keeps ready while the process is busy. */
const BACKLOG = 1_024;

/** Where a port listens and who may use it. `onRefused`: called for each connection of a sender that may not. */
export interface PortOptions extends SenderRules {
  host: string;
  /** 0 = a free one. */
  port: number;
  onRefused?: () => void;
}

/** A listening port. `close` lets requests under way finish, and half-sent ones for a while. */
export interface Port {
  url: string;
  close: () => Promise<void>;
}

/** Listens for an HTTP server: each connection carries one request, and `connections` keeps floods from filling the port. */
export async function openPort(http: HttpServer, connections: Connections, options: PortOptions): Promise<Port> {
  const { host, port, trustedProxies, allowedAddresses, onRefused } = options;
  http.maxRequestsPerSocket = 1;
  http.prependListener('request', ({ socket }, response) => {
    const connection: unknown = socket;
    if (connection instanceof Connection) connection.response ??= response;
    response.shouldKeepAlive = false;
  });
  // Half open: whoever ends its side behind its request still gets the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    // A reset is one of the ways in which a connection ends.
    socket.on('error', () => undefined);
    const peer = socket.remoteAddress ?? '';
    const isProxy = isListed(trustedProxies, peer);
    if (allowedAddresses && !isProxy && !isListed(allowedAddresses, peer)) {
      onRefused?.();
      socket.resetAndDestroy();
      return;
    }
    const connection = connections.open(socket, isProxy ? PROXY : senderKey(peer));
    if (connection) http.emit('connection', connection);
  });
  server.listen({ host, port, backlog: BACKLOG });
  await once(server, 'listening');
  const { address, port: bound } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    connections.closeIdle();
    const cut = setTimeout(() => connections.closeAll(), CLOSE_GRACE_MS);
    await closed;
    clearTimeout(cut);
    connections.closeAll();
  };
  return { url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`, close };
}
