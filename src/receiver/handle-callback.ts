import { parse } from 'lossless-json';
import type { CallbackTarget } from '../contract/callback-url.js';
import { ORDER_UUID_FORMAT } from '../contract/names.js';
import type { CallbackHint } from '../contract/order/messages.js';
import type { OrderTarget, ReceivedHint, ReceivedTarget } from './signals.js';
import type { SparedReceivedResult, SparedResult } from './spare-temporal.js';

/** Largest callback body in bytes; a genuine one (the order object) is a few KiB. */
export const MAX_CALLBACK_BODY_BYTES = 64 * 1024;

const STATUS_FORMAT = /^[a-z_]{1,64}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON number as a double; a number like 1e400 is refused instead of becoming Infinity. */
function finiteNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new RangeError('number out of range');
  return value;
}

/** The body's JSON object; undefined for everything else. */
function parseObject(raw: Uint8Array): Map<string, unknown> | undefined {
  try {
    // Unlike JSON.parse, this parser refuses a key with two different values, of which only the last would be seen. It
    // recurses: nesting deeper than the stack is a RangeError, caught here like any other bad body.
    const value = parse(utf8.decode(raw), undefined, finiteNumber);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return new Map(Object.entries(value));
  } catch {
    return undefined;
  }
}

function matching(value: unknown, format: RegExp): string | undefined {
  return typeof value === 'string' && format.test(value) ? value : undefined;
}

/** The fields a hint may carry, each only where it has its format: how the order stands is read by a signed look-up anyway. */
function hintOf(body: Map<string, unknown>): CallbackHint {
  const orderUuid = matching(body.get('order_uuid'), ORDER_UUID_FORMAT);
  const status = matching(body.get('status'), STATUS_FORMAT);
  return { ...(orderUuid && { order_uuid: orderUuid }), ...(status && { status }) };
}

/**
 * What the body of an order's callback claims; undefined when it is not one JSON object in UTF-8. The hint only wakes the
 * workflow up, for one look-up: fields of a wrong shape, and all of a body about another order, are left out, not refused.
 */
export function readHint(raw: Uint8Array, orderId: string): CallbackHint | undefined {
  const body = parseObject(raw);
  if (!body) return undefined;
  const about = body.get('user_order_id');
  return typeof about === 'string' && about !== orderId ? {} : hintOf(body);
}

/** What the body of an address's callback claims; undefined when it does not name the order that came to be. */
export function readReceivedHint(raw: Uint8Array): ReceivedHint | undefined {
  const body = parseObject(raw);
  const { order_uuid: orderUuid, ...others } = body ? hintOf(body) : {};
  return orderUuid === undefined ? undefined : { ...others, order_uuid: orderUuid };
}

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
