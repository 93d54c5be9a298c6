import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Service } from '../service.js';
import type { World } from '../world.js';
import { deliver, visibleStatus } from './deliver.js';

const BODY_LIMIT_BYTES = 1024 * 1024;

/** The HTTP side of the service: every POST goes to it with its exact bytes. */
export function createServiceServer(world: World, service: Service): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  const isStale = staleConnections(world);
  // The signature covers the bytes as sent, so nothing may parse them first, whatever their type.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async ({ raw, url: path }, reply) => {
    const { serverDown } = world.settings;
    const fault = isStale(raw, reply.raw) ? 'stale-socket' : service.unreadFault(path);
    if (!serverDown && fault === undefined) return;
    // Hijacked, so that nothing is executed for a client that is cut off.
    reply.hijack();
    if (serverDown) {
      raw.socket.destroy();
      return;
    }
    world.traffic.request({ atMs: Date.now(), path, status: 0, fault });
    raw.socket.resetAndDestroy();
  });
  server.all('/redirected', async () => {
    world.redirectHits += 1;
    return { status: 'success', data: null };
  });
  server.post('/*', (request, reply) => {
    const path = request.url;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { answer, orderId, orderIds } = service.serve({ path, headers: request.headers, body });
    const { fault, malformed } = answer;
    const status = visibleStatus(answer);
    const facts = { ...(fault && { fault }), ...(malformed && { malformed }), ...(orderIds && { orderIds }) };
    world.traffic.request({ atMs: Date.now(), path, orderId, status, ...facts });
    reply.hijack();
    deliver(reply.raw, answer).catch(() => reply.raw.destroy());
  });
  return server;
}

/** Tells whether a request came on a connection that had idled too long, as when the server had just closed it. */
function staleConnections(world: World): (request: IncomingMessage, response: ServerResponse) => boolean {
  const idleSinceMs = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    response.once('close', () => idleSinceMs.set(socket, Date.now()));
    const idleMs = Date.now() - (idleSinceMs.get(socket) ?? Date.now());
    return world.settings.staleAfterMs !== null && idleMs > world.settings.staleAfterMs;
  };
}
