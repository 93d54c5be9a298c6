import { z } from 'zod';
import { describeFieldErrors } from '../contract/failures.js';
import type { Order } from '../contract/service-objects.js';
import { fieldErrors } from '../validation/field-errors.js';
import { MalformedResponseError } from './errors.js';
import type { Page } from './paging.js';
import { MAX_ORDERS_PER_PAGE } from './queries.js';
import { MAX_PROBLEMS, orderListItemSchema, orderSchema, safeReadOrder } from './schemas.js';
import { parseJson } from './wire.js';

const envelopeSchema = z.object({ status: z.string(), data: z.unknown().optional() });

/** Reads a value by a schema; orders as `safeReadOrder` does. */
const safeRead = <T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> =>
  ORDERS.has(schema) ? (safeReadOrder(schema as never, value) as z.ZodSafeParseResult<T>) : schema.safeParse(value);

const ORDERS: ReadonlySet<unknown> = new Set([orderSchema, orderListItemSchema]);

function check<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const checked = safeRead(schema, value);
  if (checked.success) return checked.data;
  throw new MalformedResponseError(fieldErrors(checked.error, path).slice(0, MAX_PROBLEMS));
}

const notSuccess = (reason: string) => new MalformedResponseError([{ field: 'status', reason }]);

const readEnvelope = (bytes: Uint8Array) => check(envelopeSchema, parseJson(bytes), '');

function readData(bytes: Uint8Array): unknown {
  const { status, data } = readEnvelope(bytes);
  // No other value is documented, so none is interpreted.
  if (status !== 'success') throw notSuccess('not "success"');
  return data;
}

/** Returns the documented `data` of a success envelope. Throws MalformedResponseError. */
export const readObject = <T>(schema: z.ZodType<T>, bytes: Uint8Array): T => check(schema, readData(bytes), 'data');

/** Reads a page and reports malformed items by index. Refuses more than `most` items. */
export function readPage<T>(schema: z.ZodType<T>, bytes: Uint8Array, most = MAX_ORDERS_PER_PAGE): Page<T> {
  const data = readData(bytes);
  if (Array.isArray(data) && data.length > most) {
    throw new MalformedResponseError([{ field: 'data', reason: `more items than the ${most} asked for` }]);
  }
  const list = check(z.array(z.unknown()), data, 'data');
  const page: Page<T> = { items: [], malformed: [], total: list.length };
  for (const [index, item] of list.entries()) {
    const checked = safeRead(schema, item);
    if (checked.success) page.items.push(checked.data);
    else {
      const reason = describeFieldErrors(fieldErrors(checked.error).slice(0, MAX_PROBLEMS));
      page.malformed.push({ index, reason });
    }
  }
  return page;
}

/**
 * Returns the order of a status answer; undefined if there is none. Throws if the envelope
 * contradicts itself or lacks `data`.
 */
export function readOrderIfAny(bytes: Uint8Array): Order | undefined {
  const { status, data } = readEnvelope(bytes);
  const empty = data === null || (Array.isArray(data) && data.length === 0);
  if (status === 'success') return empty ? undefined : check(orderSchema, data, 'data');
  const holdsOrder = typeof data === 'object' && data !== null && 'order_uuid' in data;
  if (holdsOrder || (Array.isArray(data) && !empty)) throw notSuccess('not "success", though there is data');
  return undefined;
}
