import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { reportOfBadInput, withReason } from '../client/check-order.js';
import { type CheckOptions, checkOrderInput, type ParsedInput } from '../client/checked-input.js';
import { InvalidInputError, NotDecidedYetError } from '../client/errors.js';
import type { OrderHandle } from '../client/order-handle.js';
import type { PaymentOrders } from '../client.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import type { OrderCheck } from '../contract/order/messages.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutWallets } from '../contract/shown-json.js';
import { orderCheck } from '../shapes/read-schemas.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { optionSchemas } from '../validation/input-schemas.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { startedOrder, waitingOrder } from './bodies.js';
import { actorOf, allowedAccount, beyondOrder, type Caller, requireOrder } from './callers.js';
import { answers, bodyOf, locationOf, queryNumber } from './documents.js';
import type { Load } from './load.js';
import { entryOf } from './orders.js';
import { Refusal } from './problems.js';
import type { Api } from './server.js';

/** Options of a start beside its input. */
const startOptions = { again: z.boolean().optional(), formatChecks: z.enum(FORMAT_CHECKS).optional() };

const startBody = z.union(
  ORDER_TYPES.map((type) =>
    z.strictObject({ order_type: z.literal(type), order: orderSchemas[type], ...optionSchemas, ...startOptions }),
  ),
);

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
    // Who started an order may not approve its breach of a rule.
    if (caller.key) {
      const startedBy = actorOf(caller, 'metadata.startedBy', input.metadata?.startedBy);
      input.metadata = { ...input.metadata, startedBy };
    }
    if (wrong.length === 0) return { type: type as OrderType, input, options: options.data ?? {} };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError([...wrong, ...error.fields]);
  }
  throw new InvalidInputError(wrong);
}

const NOT_SERVED = (account: string): string =>
  `Temporal accepted the order, but no worker serves account "${account}" or has taken it yet. It waits and nothing is lost. Repeat the same request, which is safe, and never start it under another id`;
/** If no worker takes a first step within this time, no worker is running. */
const TAKEN_WITHIN_MS = 5_000;

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

/** Adds the routes that start and check orders. */
export function addStarts(api: Api, orders: PaymentOrders, load: Load): void {
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
        202: ['Not decided yet: it continues, and Location shows it', waitingOrder],
        409: 'The id has another input (fields), or the order ended without one at the service (code)',
        413: 'The body is larger than 128 KiB',
      }),
    },
    handler: async (request, reply) => {
      const { caller } = request;
      const { type, input, options } = bodyOf(request, (value) => readStart(value, caller));
      requireOrder(caller, type, input);
      const handle = await orders.start(type, input, options);
      const { wait = 10 } = request.query;
      const beganMs = performance.now();
      const order = await load.unlessCrowded(createdWithin(handle, wait));
      const waitedMs = performance.now() - beganMs;
      const { orderId, account, attached = false } = handle;
      reply.header('location', locationOf('orders', handle.orderId, handle.account));
      if (order) {
        reply.code(attached ? 200 : 201);
        return withoutWallets({ orderId, account, attached, order });
      }
      const { entry, isUntouched } = await entryOf(orders, handle);
      // Temporal lists ended workers for minutes.
      const isLeft = isUntouched && waitedMs >= TAKEN_WITHIN_MS;
      if (isLeft || handle.served === false) {
        throw new Refusal({
          status: 503,
          code: 'noWorker',
          detail: NOT_SERVED(handle.account),
          headers: { 'retry-after': '5' },
        });
      }
      reply.code(202);
      return withoutWallets({ ...entry, attached });
    },
  });

  api.post('/v1/orders::check', {
    config: { verbs: ['start', 'read'] },
    schema: {
      summary: 'Shows what a start of this order would do',
      description: 'Starts nothing and uses up no id. Bad input and an amount above the limit are findings.',
      body: startBody,
      response: answers({ 200: ['The findings', orderCheck] }),
    },
    handler: async (request) => withoutWallets(await checkStart(orders, request)),
  });
}

/** Checks a start in the caller's name. Throws Refusal for another account. */
async function checkStart(
  orders: PaymentOrders,
  request: Pick<FastifyRequest, 'body' | 'caller'>,
): Promise<OrderCheck> {
  const { caller } = request;
  let start: Start;
  try {
    start = bodyOf(request, (value) => readStart(value, caller));
  } catch (error) {
    return reportOfBadInput(error, (request.body as ParsedInput | undefined)?.value);
  }
  const { type, input, options } = start;
  const report = await orders.check(type, input, options);
  const beyond = beyondOrder(caller, type, input);
  return beyond === undefined ? report : withReason(report, beyond);
}
