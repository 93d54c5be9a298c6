import * as z from 'zod';
import type { EndedOrders } from '../client/ended.js';
import type { PaymentOrders } from '../client.js';
import { withoutWallets } from '../contract/shown-json.js';
import { eventPage } from './bodies.js';
import { allowedAccount } from './callers.js';
import { accountQuery, answers, queryNumber } from './documents.js';
import type { Api } from './server.js';

const eventsQuery = accountQuery.extend({
  after: z.string().max(4_000).optional(),
  limit: queryNumber(1, 200).optional(),
});

/** Returns an end in the shape of outgoing events, as far as Temporal's lists know it. */
const eventOf = ({ runId, closedAt, received, ...order }: EndedOrders['orders'][number]) => ({
  id: `${runId}.end`,
  type: 'order.ended',
  timestamp: closedAt.toISOString(),
  data: {
    account: order.account,
    order_id: received ? undefined : order.orderId,
    order_type: order.type,
    order_uuid: received ? order.orderId : order.orderUuid,
    status: order.status,
    batch_id: order.batchId,
    reference: order.reference,
  },
});

/** Adds the route of the feed. */
export function addEventRoutes(api: Api, orders: PaymentOrders): void {
  api.get('/v1/events', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Lists orders that ended, each at least once',
      description: 'Store the cursor after the events are processed and send it as after. [] = no more now.',
      querystring: eventsQuery,
      response: answers({ 200: ['Events and the next cursor', eventPage] }),
    },
    handler: async ({ caller, query }) => {
      if (query.account !== undefined) allowedAccount(caller, query.account);
      const { orders: ended, cursor } = await orders.ended({ ...query, accounts: caller.key?.accounts });
      return { events: withoutWallets(ended.map(eventOf)), cursor };
    },
  });
}
