import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  ConflictError,
  FailedError,
  InvalidInputError,
  NotDecidedYetError,
  type OrderInput,
  PaymentOrders,
} from '../src/index.js';

/**
 * A backend that pays out: POST /payouts {"orderId", "amount", "card"} answers with the order as created. Asking again
 * with the same body returns the same order, so a client that heard nothing may simply repeat its request.
 * Behind your own authentication, please.
 */

/** Longer than a create takes; an uncertain one takes minutes and is answered with 202. */
const ANSWER_WITHIN_MS = 25_000;

interface Payout {
  orderId: string;
  amount: string;
  card: string;
}

const payoutInput = ({ orderId, amount, card }: Payout): OrderInput<'withdraw'> => ({
  order: { order_id: orderId, currency: 'usd', network: 'card', amount, wallet: card },
  compensation: 'finish',
});

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function answerTo(error: unknown): [status: number, body: object] {
  if (error instanceof SyntaxError) return [400, { error: 'the body must be JSON' }];
  if (error instanceof InvalidInputError) return [422, { fields: error.fields }];
  if (error instanceof ConflictError) return [409, { fields: error.fields }];
  if (error instanceof FailedError) return [422, { failed: error.type, fields: error.fields }];
  // Not a failure: the payout goes on, and paying it under another id would pay twice.
  if (error instanceof NotDecidedYetError) return [202, { orderId: error.id }];
  return [503, { retry: 'with the same orderId' }];
}

async function payOut(orders: PaymentOrders, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const input = payoutInput((await json(request)) as Payout);
    const { order } = await orders.create('withdraw', input, { timeoutMs: ANSWER_WITHIN_MS });
    answer(response, 201, { orderUuid: order.order_uuid, status: order.status });
  } catch (error) {
    answer(response, ...answerTo(error));
  }
}

/** The HTTP server of the backend; listen on it where you like. */
export const createBackend = (orders: PaymentOrders) =>
  createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/payouts') void payOut(orders, request, response);
    else answer(response, 404, {});
  });

if (import.meta.filename === process.argv[1]) {
  const orders = await PaymentOrders.connect();
  const server = createBackend(orders).listen(3000, '127.0.0.1', () => process.stdout.write('ready 127.0.0.1:3000\n'));
  process.once('SIGTERM', () => server.close(() => void orders.close()));
}
