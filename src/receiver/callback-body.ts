import { parse } from 'lossless-json';
import { ORDER_UUID_FORMAT } from '../contract/names.js';
import type { CallbackHint } from '../contract/order/messages.js';
import type { ReceivedHint } from './signals.js';

const STATUS_FORMAT = /^[a-z_]{1,64}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns a JSON number; throws for a number such as 1e400 instead of returning Infinity. */
function finiteNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new RangeError('number out of range');
  return value;
}

/** Returns the body's JSON object; undefined for anything else. */
function parseObject(raw: Uint8Array): Map<string, unknown> | undefined {
  try {
    // Unlike JSON.parse, this parser refuses a key with two values. Deep nesting is a RangeError,
    // caught here.
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

/** Returns the well-formed fields of a hint. A signed look-up reads the truth anyway. */
function hintOf(body: Map<string, unknown>): CallbackHint {
  const orderUuid = matching(body.get('order_uuid'), ORDER_UUID_FORMAT);
  const status = matching(body.get('status'), STATUS_FORMAT);
  return { ...(orderUuid && { order_uuid: orderUuid }), ...(status && { status }) };
}

/** Returns a callback's well-formed claims; undefined if it is no JSON object. */
export function readHint(raw: Uint8Array, orderId: string): CallbackHint | undefined {
  const body = parseObject(raw);
  if (!body) return undefined;
  const about = body.get('user_order_id');
  return typeof about === 'string' && about !== orderId ? {} : hintOf(body);
}

/** Returns the claims of an address's callback; undefined if it does not name an order. */
export function readReceivedHint(raw: Uint8Array): ReceivedHint | undefined {
  const body = parseObject(raw);
  const { order_uuid: orderUuid, ...others } = body ? hintOf(body) : {};
  return orderUuid === undefined ? undefined : { ...others, order_uuid: orderUuid };
}
