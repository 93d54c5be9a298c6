import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Admin } from '../admin.js';

const RECEIPT = z.strictObject({ addressUuid: z.string(), amount: z.string(), description: z.string().optional() });

/** The admin port: JSON in and out, for this machine only and without a key. */
export function createAdminServer(admin: Admin): FastifyInstance {
  const server = fastify({ forceCloseConnections: true });
  server.setErrorHandler((error, _request, reply) => {
    const refused = error instanceof RangeError || error instanceof z.ZodError;
    return reply
      .status(refused ? 400 : 500)
      .send({ error: error instanceof Error ? error.message : 'unexpected error' });
  });
  server.get('/state', async () => admin.stats());
  server.get('/orders', async () => admin.orders());
  server.get<{ Params: { order_id: string } }>('/orders/:order_id', async (request, reply) => {
    const orders = admin.orders(request.params.order_id);
    return orders.length > 0 ? orders : reply.status(404).send({ error: 'no such order' });
  });
  server.get('/ledger', async () => admin.ledger());
  server.get('/settings', async () => admin.settings());
  server.put('/settings', async (request) => admin.set(request.body));
  server.post('/receipts', async (request) => admin.receive(RECEIPT.parse(request.body)));
  return server;
}
