import type { CallbackTarget } from '../contract/callback-url.js';
import type { CallbackHint } from '../contract/order/messages.js';
import { readHint, readReceivedHint } from './callback-body.js';
import type { OrderTarget, ReceivedHint, ReceivedTarget } from './signals.js';
import type { SparedReceivedResult, SparedResult } from './spare-temporal.js';

/** What became of a callback with a genuine token; `reason` says why Temporal was not reached. */
export type CallbackOutcome = { orderUuid?: string } & (
  | { result: SparedResult | SparedReceivedResult | 'malformed' }
  | { result: 'unavailable'; reason: string }
);

/** Where callbacks go: to the order of the URL, or to the one that a receipt on the URL's address made. */
export interface Delivery {
  order: (target: OrderTarget, hint: CallbackHint) => Promise<SparedResult>;
  received: (target: ReceivedTarget, hint: ReceivedHint) => Promise<SparedReceivedResult>;
}

/** HTTP answer of one outcome. The service retries on everything but 200 and 201. */
export interface CallbackAnswer {
  status: number;
  body: { result: string };
  retryAfterSeconds?: number;
}

const ACCEPTED: CallbackAnswer = { status: 200, body: { result: 'accepted' } };

/**
 * The answer to each outcome. An ended order and one that Temporal does not know are acknowledged as well: the token
 * proves that we made the URL, so these are late callbacks, and no retry would find anything else.
 */
export const ANSWERS: Readonly<Record<CallbackOutcome['result'], CallbackAnswer>> = {
  delivered: ACCEPTED,
  closed: ACCEPTED,
  unknown: ACCEPTED,
  malformed: { status: 400, body: { result: 'malformed body' } },
  limited: { status: 429, body: { result: 'too many callbacks for this order' }, retryAfterSeconds: 600 },
  unavailable: { status: 503, body: { result: 'try again' }, retryAfterSeconds: 5 },
  crowded: { status: 429, body: { result: 'too many new orders on this address' }, retryAfterSeconds: 60 },
};

/** One line about an error of Temporal's client. gRPC's own words are in the cause; they carry no payload. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.slice(0, 300);
}

/** Body → hint → signal. Never rejects: an error of Temporal is an outcome, and the service calls again. */
export function handleCallback(target: CallbackTarget, raw: Uint8Array, to: Delivery): Promise<CallbackOutcome> {
  return target.kind === 'order' ? aboutOrder(target, raw, to) : aboutReceipt(target, raw, to);
}

async function aboutOrder(target: OrderTarget, raw: Uint8Array, { order }: Delivery): Promise<CallbackOutcome> {
  const hint = readHint(raw, target.orderId);
  if (!hint) return { result: 'malformed' };
  return order(target, hint).then((result) => ({ result }), unavailable);
}

async function aboutReceipt(target: ReceivedTarget, raw: Uint8Array, { received }: Delivery): Promise<CallbackOutcome> {
  const hint = readReceivedHint(raw);
  if (!hint) return { result: 'malformed' };
  const outcome = await received(target, hint).then((result) => ({ result }), unavailable);
  return { ...outcome, orderUuid: hint.order_uuid };
}

const unavailable = (error: unknown) => ({ result: 'unavailable' as const, reason: reasonOf(error) });
