import * as z from 'zod';
import { type CheckOptions, checkOrderInput } from '../client/checked-input.js';
import {
  FailedError,
  InvalidInputError,
  NotDecidedYetError,
  UnknownIdError,
  UnresolvedError,
} from '../client/errors.js';
import { readFirstInput } from '../client/history.js';
import { toEntry } from '../client/list-orders.js';
import type { OrderHandle } from '../client/order-handle.js';
import { describeRun } from '../client/standing.js';
import { callTemporal } from '../client/temporal-calls.js';
import type { HandleOptions, PaymentOrders } from '../client.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import { DECIDE_ACTIONS, type DecideAction, type Decision, type OrderState } from '../contract/order/messages.js';
import { ORDER_TYPES, type OrderType, workflowTypeOf } from '../contract/order/types.js';
import { SHOWN_STATUSES } from '../contract/service-objects.js';
import { withoutWallets } from '../contract/shown-json.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { optionSchemas } from '../validation/input-schemas.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { decidedOrder, orderBody, startedOrder } from './bodies.js';
import { actorOf, allowedAccount, amountsOf, type Caller, requireAmounts } from './callers.js';
import { accountQuery, answers, bodyBy, bodyOf, idParams, queryFlag, queryNumber } from './documents.js';
import { Refusal } from './problems.js';
import type { Api } from './server.js';

/** Options of a start beside its input. */
const startOptions = { again: z.boolean().optional(), formatChecks: z.enum(FORMAT_CHECKS).optional() };

const startBody = z.union(
  ORDER_TYPES.map((type) =>
    z.strictObject({ order_type: z.literal(type), order: orderSchemas[type], ...optionSchemas, ...startOptions }),
  ),
);

const orderQuery = accountQuery.extend({ received: queryFlag.optional(), afterEnd: queryFlag.optional() });

const listQuery = accountQuery.extend({
  status: z.enum([...SHOWN_STATUSES, 'stopped']).optional(),
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

/** A start as its body asks for it. */
interface Start {
  type: OrderType;
  input: OrderInput;
  options: CheckOptions & { again?: boolean };
}

/** Returns the checked start. Throws InvalidInputError, and Refusal for another account. */
function readStart(value: unknown, caller: Caller): Start {
  const { order_type: type, again, formatChecks, ...rest } = Object(value) as Record<string, unknown>;
  allowedAccount(caller, String(rest.account ?? DEFAULT_ACCOUNT));
  const options = z
    .object(startOptions)
    .safeParse({ again: again ?? undefined, formatChecks: formatChecks ?? undefined });
  const wrong = options.error?.issues.map(({ path, message }) => ({ field: path.join('.'), reason: message })) ?? [];
  try {
    const input = checkOrderInput(type as OrderType, rest, options.data);
    if (wrong.length === 0) return { type: type as OrderType, input, options: options.data ?? {} };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError([...wrong, ...error.fields]);
  }
  throw new InvalidInputError(wrong);
}

const locationOf = ({ orderId, account }: OrderHandle): string =>
  `/v1/orders/${encodeURIComponent(orderId)}${account === DEFAULT_ACCOUNT ? '' : `?account=${account}`}`;

const NOT_SERVED =
  'Temporal accepted the order, but no worker serves its account now. It waits and nothing is lost. Repeat the same request, which is safe, and never start it under another id';

/** Returns the order once it exists, or undefined at the end of the wait. */
async function createdWithin(handle: OrderHandle, seconds: number) {
  if (seconds === 0) return undefined;
  try {
    return await handle.created({ timeoutMs: seconds * 1_000 });
  } catch (error) {
    if (error instanceof NotDecidedYetError) return undefined;
    throw error;
  }
}

/** Returns what Temporal knows of an order. Needs no worker. */
async function entryOf({ client }: PaymentOrders, handle: OrderHandle) {
  const { orderId, account, workflowId, received } = handle;
  const run = await describeRun(client, workflowId);
  if (!run) throw new UnknownIdError(received ? 'received' : 'order', orderId, account);
  return { isOpen: run.status.name === 'RUNNING', entry: toEntry(run) ?? { orderId, account, workflowId } };
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
function shownState({ decisions, ...state }: OrderState) {
  return {
    ...state,
    decisions: decisions.map(({ decision: { by: _, ...decision }, ...choice }) => ({ ...choice, decision })),
  };
}

async function showOrder(orders: PaymentOrders, handle: OrderHandle): Promise<unknown> {
  const { isOpen, entry } = await entryOf(orders, handle);
  if (!isOpen) return withoutWallets({ ...entry, ...(await endOf(handle)) });
  const { order, ...state } = shownState(await handle.state());
  return withoutWallets({ ...entry, order, state });
}

/** Decisions that may move money. */
const MOVING: readonly DecideAction[] = ['resend', 'finish', 'revert', 'approve'];

/**
 * Throws Refusal for a decision that may move more than the key's limits. A follow-up never moves
 * more than its order left.
 */
async function requireDecidable(caller: Caller, { client }: PaymentOrders, handle: OrderHandle, decision: Decision) {
  const { action, amount, currency } = decision;
  if (!caller.key?.maxAmount || !MOVING.includes(action)) return;
  const { workflowType, input } = await callTemporal(client, () => readFirstInput(client, handle.workflowId));
  const type = ORDER_TYPES.find((one) => workflowTypeOf(one) === workflowType);
  const approved = currency === undefined ? [] : [{ amount, currency }];
  requireAmounts(caller, [...(type ? amountsOf(type, input) : [{}]), ...approved]);
}

/** Adds the routes of single orders. */
export function addOrderRoutes(api: Api, orders: PaymentOrders): void {
  const handleOf = (caller: Caller, id: string, { received, ...query }: HandleOptions & { received?: boolean }) => {
    allowedAccount(caller, query.account);
    return received ? orders.received(id, query) : orders.order(id, query);
  };

  api.post('/v1/orders', {
    config: { verbs: ['start'] },
    schema: {
      summary: 'Starts an order, or returns the same one',
      description: 'Idempotent by order_id: if an answer is missing, the same request is safe.',
      querystring: z.strictObject({ wait: queryNumber(0, 60).optional() }),
      body: startBody,
      response: answers({
        201: ['The order is new and exists at the service', startedOrder],
        200: ['The same input was started before, and the order exists', startedOrder],
        202: 'Not decided yet: it continues, and Location shows it',
        409: 'The id has another input (fields), or the order ended without one at the service (code)',
        413: 'The body is larger than 128 KiB',
      }),
    },
    handler: async (request, reply) => {
      const { caller } = request;
      const { type, input, options } = bodyOf(request, (value) => readStart(value, caller));
      requireAmounts(caller, amountsOf(type, input));
      const handle = await orders.start(type, input, options);
      const order = await createdWithin(handle, request.query.wait ?? 10);
      const { orderId, account, attached = false } = handle;
      reply.header('location', locationOf(handle));
      if (order) {
        reply.code(attached ? 200 : 201);
        return withoutWallets({ orderId, account, attached, order });
      }
      if (!(await orders.isServed(account))) {
        throw new Refusal({ status: 503, code: 'noWorker', detail: NOT_SERVED, headers: { 'retry-after': '5' } });
      }
      const { entry } = await entryOf(orders, handle);
      reply.code(202);
      return withoutWallets({ ...entry, attached });
    },
  });

  api.get('/v1/orders', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Lists orders, newest first',
      description: 'A page may be short; the list ends where cursor is missing. Filters are combined with "and".',
      querystring: listQuery,
      response: answers({ 200: 'One page' }),
    },
    handler: async ({ caller, query }) => {
      const { batch: batchId, ...filter } = query;
      if (filter.account !== undefined) allowedAccount(caller, filter.account);
      return withoutWallets(await orders.listPage({ ...filter, batchId, accounts: caller.key?.accounts }));
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
    handler: async ({ caller, params, query }) => showOrder(orders, handleOf(caller, params.id, query)),
  });

  api.post('/v1/orders/:id/decisions', {
    config: { verbs: ['decide'] },
    schema: {
      summary: 'Decides on a parked order',
      description: 'Takes one of the decisions that the order shows, with its revision. The key names who decides.',
      params: idParams,
      querystring: orderQuery,
      body: decisionBody,
      response: answers({
        200: ['The state after it', decidedOrder],
        404: 'No such order',
        409: 'Refused: read the state again',
      }),
    },
    handler: async (request) => {
      const { caller, params, query } = request;
      const handle = handleOf(caller, params.id, query);
      const given = bodyBy(request, decisionBody);
      const decision = { ...given, by: actorOf(caller, 'by', given.by) } as Decision;
      await requireDecidable(caller, orders, handle, decision);
      const { orderId, account } = handle;
      return withoutWallets({ orderId, account, state: shownState(await handle.decide(decision)) });
    },
  });

  api.post('/v1/orders/:id/cancel', {
    config: { verbs: ['start', 'decide'] },
    schema: {
      summary: 'Asks that nothing more is sent',
      description: 'An unsent order ends as OrderCancelled; one that was sent is followed to its end.',
      params: idParams,
      querystring: orderQuery,
      response: answers({ 202: 'Temporal has the request', 404: 'No such order', 409: 'It has ended' }),
    },
    handler: async ({ caller, params, query }, reply) => {
      const handle = handleOf(caller, params.id, query);
      await handle.cancel();
      reply.code(202);
      return { orderId: handle.orderId, account: handle.account, cancelRequested: true };
    },
  });
}
