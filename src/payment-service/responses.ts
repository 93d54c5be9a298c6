import { z } from 'zod';
import { describeFieldErrors, type FieldError } from '../contract/failures.js';
import type { Order } from '../contract/order/order.js';
import { fieldErrors } from '../validation/field-errors.js';
import { MalformedResponseError } from './errors.js';
import { orderSchema } from './schemas.js';
import type { Page } from './types.js';
import { parseJson } from './wire.js';

/** Fields named per error or malformed item; the first few tell what is wrong. */
const MAX_PROBLEMS = 8;

const envelopeSchema = z.object({ status: z.string(), data: z.unknown().optional() });

type Envelope = z.infer<typeof envelopeSchema>;

function check<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  throw new MalformedResponseError(fieldErrors(checked.error, path).slice(0, MAX_PROBLEMS));
}

const malformed = (problem: FieldError) => new MalformedResponseError([problem]);

const readEnvelope = (bytes: Uint8Array): Envelope => check(envelopeSchema, parseJson(bytes), '');

function readData(bytes: Uint8Array): unknown {
  const { status, data } = readEnvelope(bytes);
  // No other value is documented, so nothing is read into one.
  if (status !== 'success') throw malformed({ field: 'status', reason: 'not "success"' });
  return data;
}

/** The `data` of a success envelope in its documented shape. Throws MalformedResponseError. */
export const readObject = <T>(schema: z.ZodType<T>, bytes: Uint8Array): T => check(schema, readData(bytes), 'data');

/** A page of a list: one malformed item is reported by its index and does not spoil the others. */
export function readPage<T>(schema: z.ZodType<T>, bytes: Uint8Array): Page<T> {
  const list = check(z.array(z.unknown()), readData(bytes), 'data');
  const page: Page<T> = { items: [], malformed: [], total: list.length };
  for (const [index, item] of list.entries()) {
    const checked = schema.safeParse(item);
    if (checked.success) page.items.push(checked.data);
    else {
      const reason = describeFieldErrors(fieldErrors(checked.error).slice(0, MAX_PROBLEMS));
      page.malformed.push({ index, reason });
    }
  }
  return page;
}

/**
 * The order of a status answer; undefined when the envelope says that there is none: another status than success,
 * `data: null`, `data: []`. An envelope that holds an order although it should not, or lacks `data`, says neither.
 */
export function readOrderIfAny(bytes: Uint8Array): Order | undefined {
  const { status, data } = readEnvelope(bytes);
  const empty = data === null || (Array.isArray(data) && data.length === 0);
  if (status === 'success') return empty ? undefined : check(orderSchema, data, 'data');
  const holdsOrder = typeof data === 'object' && data !== null && 'order_uuid' in data;
  if (holdsOrder || (Array.isArray(data) && !empty)) {
    throw malformed({ field: 'status', reason: 'not "success", though there is data' });
  }
  return undefined;
}
