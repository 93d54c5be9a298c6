import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Admin } from '../admin.js';

const RECEIPT = z.strictObject({ addressUuid: z.string(), amount: z.string(), description: z.string().optional() });
const RECEIPTS = z.union([RECEIPT, z.array(RECEIPT)]);
const RATE = z.strictObject({ windowMs: z.coerce.number().positive().default(1000) });
const PAST = z.strictObject({ count: z.int().positive(), fromMs: z.number(), toMs: z.number() });
const SINCE = z.strictObject({ sinceMs: z.coerce.number().min(0).default(0) });
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** An order in a path, by the service's identifier. */
interface OneOrder {
  Params: { order_uuid: string };
}

/** The admin port: JSON in and out, for this machine only and without a key. */
export function createAdminServer(admin: Admin): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  server.setErrorHandler((error, _request, reply) => {
    const refused = error instanceof RangeError || error instanceof z.ZodError;
    return reply
      .status(refused ? 400 : 500)
      .send({ error: error instanceof Error ? error.message : 'unexpected error' });
  });
  server.get('/state', async () => admin.stats());
  server.get('/rate', async (request) => admin.rate(RATE.parse(request.query).windowMs));
  server.get('/requests', async (request) => admin.requests(SINCE.parse(request.query).sinceMs));
  server.post('/finish', async () => {
    admin.finishAll();
    return {};
  });
  server.get('/orders', async () => admin.orders());
  server.get<{ Params: { order_id: string } }>('/orders/:order_id', async (request, reply) => {
    const orders = admin.orders(request.params.order_id);
    return orders.length > 0 ? orders : reply.status(404).send({ error: 'no such order' });
  });
  server.delete<OneOrder>('/orders/:order_uuid', async ({ params }) => admin.remove(params.order_uuid));
  server.post<OneOrder>('/returns/:order_uuid', async ({ params }) => admin.giveBack(params.order_uuid));
  server.post<OneOrder>('/callbacks/:order_uuid', async ({ params }) => ({
    status: await admin.sendCallback(params.order_uuid),
  }));
  server.get('/addresses', async () => admin.addresses());
  server.get('/ledger', async () => admin.ledger());
  server.get('/settings', async () => admin.settings());
  server.put('/settings', async (request) => admin.set(request.body));
  server.post('/past', async (request) => ({ orders: admin.past(PAST.parse(request.body)) }));
  server.post('/receipts', async (request) => {
    const receipts = RECEIPTS.parse(request.body);
    return Array.isArray(receipts) ? receipts.map((receipt) => admin.receive(receipt)) : admin.receive(receipts);
  });
  return server;
}
