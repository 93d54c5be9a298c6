import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { AMOUNT_FORMAT } from '../contract/money.js';
import { InvalidRequestError, MalformedResponseError } from './errors.js';

/** Deepest nesting kept of the parts of a response whose shape is not documented. */
const MAX_DEPTH = 32;

/**
 * The exact bytes of a request body; they are signed and sent as they are. Amounts become number tokens digit for digit,
 * everything else plain JSON. Absent, null and undefined are the same to us, and only absent is documented: left out.
 */
export function toWireBytes(request: object): Buffer {
  const fields = Object.entries(request)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, toWireValue(key, value)]);
  return Buffer.from(stringify(Object.fromEntries(fields)) ?? '{}');
}

function toWireValue(key: string, value: unknown): unknown {
  if (key === 'amount' || key === 'amount_to') return exactNumber(key, value);
  if (key !== 'wallet_details' || !Array.isArray(value)) return value;
  return value.map((part, i) => ({ ...part, amount: exactNumber(`wallet_details[${i}].amount`, part.amount) }));
}

function exactNumber(field: string, amount: unknown): LosslessNumber {
  if (typeof amount !== 'string' || !AMOUNT_FORMAT.test(amount)) {
    throw new InvalidRequestError([{ field, reason: 'must be a decimal string' }]);
  }
  return new LosslessNumber(amount);
}

/**
 * Parses a response. Every number stays text (LosslessNumber), so none loses digits. Throws MalformedResponseError for
 * anything but JSON in UTF-8; also for nesting that exhausts the stack and for a key that is given twice differently.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new MalformedResponseError([{ field: 'body', reason: 'not JSON' }]);
  }
}

/**
 * Plain JSON of a part whose shape is not documented: numbers become their text, as amounts are text everywhere.
 * Throws a RangeError when nested too deep for the next JSON writer.
 */
export function toPlain(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  if (isLosslessNumber(value)) return value.toString();
  if (Array.isArray(value)) return value.map((item) => toPlain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // Harmless here as an own key, but not to the next one who copies fields by assignment.
      .filter(([key]) => key !== '__proto__')
      .map(([key, item]) => [key, toPlain(item, depth + 1)]),
  );
}

/** A value as one text: numbers by their digits, objects and lists as JSON. Throws a RangeError when nested too deep. */
export function textOf(value: unknown): string {
  const plain = toPlain(value);
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}

/** A safe integer where the value is one, also as text; anything else unchanged, for the schema to refuse. */
export function toInteger(value: unknown): unknown {
  const text = isLosslessNumber(value) ? value.value : value;
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : value;
}
