import * as z from 'zod';
import { UNTOUCHED_EVENTS } from '../client/batch/start-batch.js';
import type { EndedOrders } from '../client/ended.js';
import { FailedError, RefusedError, UnknownIdError, UnresolvedError } from '../client/errors.js';
import { readFirstInput } from '../client/history.js';
import { TERMINATED, toEntry } from '../client/list-orders.js';
import type { OrderHandle } from '../client/order-handle.js';
import { describeRun } from '../client/standing.js';
import { callTemporal } from '../client/temporal-calls.js';
import type { HandleOptions, PaymentOrders } from '../client.js';
import { DECIDE_ACTIONS, type DecideAction, type Decision, type OrderState } from '../contract/order/messages.js';
import { orderTypeOf } from '../contract/order/types.js';
import { isFinal, SHOWN_STATUSES } from '../contract/service-objects.js';
import { withoutWallets } from '../contract/shown-json.js';
import { cancelledOrder, decidedOrder, eventPage, orderBody, orderPage } from './bodies.js';
import { allowedAccount, type Caller, requireAmounts, requireOrder } from './callers.js';
import { accountQuery, answers, idParams, instructionBody, namedBody, queryFlag, queryNumber } from './documents.js';
import type { Api } from './server.js';

const orderQuery = accountQuery.extend({ received: queryFlag.optional(), afterEnd: queryFlag.optional() });

const listQuery = accountQuery.extend({
  status: z.enum([...SHOWN_STATUSES, TERMINATED]).optional(),
  batch: z.string().optional(),
  reference: z.string().optional(),
  endedAfter: z.iso.datetime({ offset: true }).optional(),
  needsAttention: queryFlag.optional(),
  limit: queryNumber(1, 200).optional(),
  cursor: z.string().max(4_000).optional(),
});

// The workflow checks the other fields.
const decisionBody = z.looseObject({
  action: z.enum(DECIDE_ACTIONS),
  reason: z.string(),
  revision: z.int().min(0),
  runId: z.string().optional(),
  by: z.string().optional(),
});

/** Returns what Temporal knows of an order. Needs no worker. */
export async function entryOf({ client }: PaymentOrders, handle: OrderHandle) {
  const { orderId, account, workflowId, received } = handle;
  const run = await describeRun(client, workflowId);
  const entry = run && toEntry(run);
  if (!entry) throw new UnknownIdError(received ? 'received' : 'order', orderId, account);
  return {
    isOpen: run.status.name === 'RUNNING',
    isUntouched: run.historyLength <= UNTOUCHED_EVENTS,
    entry,
  };
}

/** Returns how a closed order ended. */
async function endOf(handle: OrderHandle): Promise<object> {
  try {
    const { order, outcome, ...result } = await handle.result();
    return { outcome, order, result };
  } catch (error) {
    if (error instanceof FailedError) {
      return { failure: { code: error.type, detail: error.message, fields: error.fields } };
    }
    if (error instanceof UnresolvedError) return { failure: { code: error.kind, detail: error.message } };
    throw error;
  }
}

/** Returns a state without the placeholder names of its suggested decisions. */
export function shownState({ decisions, ...state }: OrderState) {
  return {
    ...state,
    decisions: decisions.map(({ decision: { by: _, ...decision }, ...choice }) => ({ ...choice, decision })),
  };
}

async function showOrder(orders: PaymentOrders, handle: OrderHandle): Promise<unknown> {
  const { isOpen, entry } = await entryOf(orders, handle);
  if (!isOpen) {
    const [end, attentionAfterEnd] = await Promise.all([endOf(handle), handle.attentionAfterEnd()]);
    return withoutWallets({ ...entry, ...end, ...(attentionAfterEnd && { attentionAfterEnd }) });
  }
  const { order, ...state } = shownState(await handle.state());
  return withoutWallets({ ...entry, order, state });
}

/** Decisions that may move money. */
const MOVING: readonly DecideAction[] = ['resend', 'finish', 'revert', 'approve', 'release'];

/** Decisions about what an order left. Another amount may be left than the order asked for. */
const OF_REST: readonly DecideAction[] = ['finish', 'revert'];

/**
 * Throws Refusal if the key may not start the order, or if the decision exceeds the key's limits.
 * Throws RefusedError if the state does not show the decision.
 */
async function requireDecidable(caller: Caller, { client }: PaymentOrders, handle: OrderHandle, decision: Decision) {
  const { action, revision, kind, as } = decision;
  if (!caller.key?.maxAmount || !MOVING.includes(action)) return;
  // Throws UnknownIdError.
  await handle.isOpen();
  const { workflowType, input } = await callTemporal(client, () => readFirstInput(client, handle.workflowId));
  const type = orderTypeOf(workflowType);
  if (type) requireOrder(caller, type, input);
  else requireAmounts(caller, [{}]);
  const state = await handle.state();
  const shown = state.revision === revision ? state.decisions : [];
  const chosen = shown.filter(
    ({ decision: one }) => one.action === action && (!kind || one.kind === kind) && (!as || one.as === as),
  );
  if (chosen.length === 0)
    throw new RefusedError('order', handle.orderId, 'decision', 'it does not show this decision');
  requireAmounts(
    caller,
    chosen.filter(({ currency }) => currency !== undefined || OF_REST.includes(action)),
  );
}

/** Returns the handle of the order that a request names. Throws Refusal for another account. */
function handleOf(
  orders: PaymentOrders,
  caller: Caller,
  id: string,
  { received, account, afterEnd }: HandleOptions & { received?: boolean },
): OrderHandle {
  allowedAccount(caller, account);
  return received ? orders.received(id, { account, afterEnd }) : orders.order(id, { account, afterEnd });
}

/** Adds the routes that list and show orders. */
export function addOrderReads(api: Api, orders: PaymentOrders): void {
  api.get('/v1/orders', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Lists orders, newest first',
      description: 'A page may be short; the list ends where cursor is missing. Filters are combined with "and".',
      querystring: listQuery,
      response: answers({ 200: ['One page', orderPage] }),
    },
    handler: async ({ caller, query }) => {
      const { batch: batchId, ...filter } = query;
      if (filter.account !== undefined) allowedAccount(caller, filter.account);
      const { orders: found, cursor } = await orders.list({ ...filter, batchId, accounts: caller.key?.accounts });
      return { orders: withoutWallets(found), ...(cursor && { cursor }) };
    },
  });

  api.get('/v1/orders/:id', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Shows an order',
      description:
        'An open order has a state with the decisions that are possible; a closed one its outcome or failure.',
      params: idParams,
      querystring: orderQuery,
      response: answers({ 200: ['The order', orderBody], 404: 'Temporal has no order of this id' }),
    },
    handler: async ({ caller, params, query }) => showOrder(orders, handleOf(orders, caller, params.id, query)),
  });
}

/** Adds the routes that decide, hold and cancel. */
export function addOrderDecisions(api: Api, orders: PaymentOrders): void {
  const aboutOne = { params: idParams, querystring: orderQuery };

  function add<B extends z.ZodType<{ by?: string | undefined }>>(
    name: 'decisions' | 'hold',
    { body, refused, ...texts }: { summary: string; description: string; body: B; refused: string },
    update: (handle: OrderHandle, given: z.output<B> & { by: string }, caller: Caller) => Promise<OrderState>,
  ): void {
    const response = answers({ 200: ['The state after it', decidedOrder], 404: 'No such order', 409: refused });
    api.post(`/v1/orders/:id/${name}`, {
      config: { verbs: ['decide'] },
      schema: { ...texts, ...aboutOne, body: body as z.ZodType, response },
      handler: async (request) => {
        const handle = handleOf(orders, request.caller, request.params.id, request.query);
        const state = await update(handle, namedBody(request, body), request.caller);
        return withoutWallets({ orderId: handle.orderId, account: handle.account, state: shownState(state) });
      },
    });
  }

  const decide = {
    summary: 'Decides on a parked order',
    description: 'Takes one of the decisions that the order shows, with its revision. The key names who decides.',
    body: decisionBody,
    refused: 'Refused: read the state again',
  };
  add('decisions', decide, async (handle, given, caller) => {
    await requireDecidable(caller, orders, handle, given as Decision);
    return handle.decide(given as Decision);
  });

  const hold = {
    summary: 'Holds an order that is not sent yet',
    description:
      'It parks with the decisions release and refuse. One that may have been sent answers 409, and is held if it was not.',
    body: instructionBody,
    refused: 'Refused: it was sent, may have been sent, or has ended',
  };
  add('hold', hold, (handle, given) => handle.hold(given));

  api.post('/v1/orders/:id/cancel', {
    config: { verbs: ['start', 'decide'] },
    schema: {
      summary: 'Asks that nothing more is sent',
      description: 'An unsent order ends as OrderCancelled; one that was sent is followed to its end.',
      ...aboutOne,
      response: answers({
        202: ['Temporal has the request', cancelledOrder],
        404: 'No such order',
        409: 'It has ended',
      }),
    },
    handler: async ({ caller, params, query }, reply) => {
      const handle = handleOf(orders, caller, params.id, query);
      await handle.cancel();
      reply.code(202);
      return { orderId: handle.orderId, account: handle.account, cancelRequested: true };
    },
  });
}

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
    status: isFinal(order.status ?? '') ? order.status : undefined,
    outcome: order.status,
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
