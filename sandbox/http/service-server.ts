import fastify, { type FastifyInstance } from 'fastify';
import type { Service } from '../service.js';
import type { World } from '../world.js';
import { deliver, visibleStatus } from './deliver.js';

const BODY_LIMIT_BYTES = 1024 * 1024;

/** The HTTP side of the service: every POST goes to it with its exact bytes. */
export function createServiceServer(world: World, service: Service): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  // The signature covers the bytes as sent, so nothing may parse them first, whatever their type.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (request, reply) => {
    if (!world.settings.serverDown) return;
    // Hijacked, so that nothing is executed for a client that is cut off.
    reply.hijack();
    request.raw.socket.destroy();
  });
  server.all('/redirected', async () => {
    world.redirectHits += 1;
    return { status: 'success', data: null };
  });
  server.post('/*', (request, reply) => {
    const path = request.url;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { answer, orderId } = service.serve({ path, headers: request.headers, body });
    const { fault } = answer;
    world.traffic.request({ atMs: Date.now(), path, orderId, status: visibleStatus(answer), ...(fault && { fault }) });
    reply.hijack();
    deliver(reply.raw, answer).catch(() => reply.raw.destroy());
  });
  return server;
}
