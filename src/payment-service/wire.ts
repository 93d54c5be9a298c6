import Big from 'big.js';
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { AMOUNT_FORMAT, SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import { InvalidRequestError, MalformedResponseError, TooManyValuesError } from './errors.js';

/** Deepest nesting kept of the parts of a response whose shape is not documented. */
const MAX_DEPTH = 32;

/**
 * Returns the exact bytes of a request, signed and sent as they are. Amounts become number tokens
 * digit for digit; null is left out, since only absent fields are documented.
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

/** Most values in one answer. A page of 1000 orders has about 50,000; each value takes 100 bytes of memory. */
const MAX_VALUES = 1_000_000;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/** Returns whether JSON has more values than `most`, without parsing it: each comma and each opening adds one. */
function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0;
  let inString = false;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  }
  return values > most;
}

/**
 * Parses a response; numbers stay text (LosslessNumber). Throws MalformedResponseError for all but
 * JSON in UTF-8, too many values, deep nesting, and a key given twice differently.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (hasMoreValues(bytes, MAX_VALUES)) throw new TooManyValuesError(MAX_VALUES);
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new MalformedResponseError([{ field: 'body', reason: 'not JSON' }]);
  }
}

/** Plain JSON of a part of undocumented shape, numbers as their text; throws a RangeError when nested too deep. */
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
function textOf(value: unknown): string {
  const plain = toPlain(value);
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}

/** A safe integer where the value is one, also as text; anything else unchanged, for the schema to refuse. */
export function toInteger(value: unknown): unknown {
  const text = isLosslessNumber(value) ? value.value : value;
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : value;
}

/**
 * Types of the service's fields, read as widely as is safe. What is written otherwise than
 * documented is read only where it means one thing; an amount is never guessed.
 */

/** Returns true for what services write where they have nothing; an empty list is how some write an empty object. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const orNullIfNothing = (value: unknown): unknown => (isNothing(value) ? null : value);

/** A text that must say something. */
export const word = z.string().min(1);

/** What `read` makes of a value that may be missing; `mistake` is said where it throws or makes nothing of it. */
const readBy = <T>(read: (value: unknown) => T | undefined, mistake: string) =>
  z
    .unknown()
    .optional()
    .transform((value, context): T => {
      try {
        const made = read(value);
        if (made !== undefined) return made;
      } catch {
        // Said below.
      }
      context.addIssue({ code: 'custom', message: mistake });
      return z.NEVER;
    });

/** Any text. Numbers come as their digits, what is no text at all as its JSON; '' stays ''. */
export const textOrNull = readBy(
  (value) => (typeof value === 'string' ? value : isNothing(value) ? null : textOf(value)),
  'nested too deep',
);

/** The same with '' for null. */
export const textOrEmpty = textOrNull.transform((value) => value ?? '');

/** The same with null for ''. */
export const wordOrNull = textOrNull.transform((value) => value || null);

/** A decimal string; see `looseAmount` for what else is read as one. */
export const amount = z.preprocess(looseAmount, z.string('not a decimal string'));

/** `schema`, null for what is nothing. */
const orNull = <T extends z.ZodType>(schema: T) =>
  z
    .preprocess(orNullIfNothing, schema.nullable())
    .optional()
    .transform((value) => value ?? null);

/** An amount, null where there is nothing. */
export const amountOrNull = orNull(amount);

/** Says that an amount is an empty object or list: nothing, unless another answer has it. */
export const EMPTY_FIGURE = 'an empty object or list';

/** An amount of a list item, null where there is none. Refuses an empty object or list, since the status may have the amount. */
export const figureOrNull = z
  .unknown()
  .optional()
  .superRefine((value, context) => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) {
      context.addIssue({ code: 'custom', message: EMPTY_FIGURE });
    }
  })
  .pipe(amountOrNull);

/** A safe integer, also one written as text. */
export const integer = z.preprocess(toInteger, z.int());

/** The same, null where there is nothing. */
export const integerOrNull = orNull(integer);

/** A number of decimal places; -1, which none can be, where the service does not say. */
export const precision = integerOrNull.transform((places) => places ?? -1);

const FLAGS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** true or false, also as 1 and 0 or as text; nothing is false. */
export const flag = readBy((value) => {
  if (isNothing(value)) return false;
  const text = isLosslessNumber(value) ? value.value : typeof value === 'object' ? '' : String(value);
  return Object.hasOwn(FLAGS, text) ? FLAGS[text] : undefined;
}, 'not true or false');

/** An integer or a word; nothing is 0, as the service says where there is no error. */
export const errorCode = z
  .union([integer, textOrNull])
  .optional()
  .transform((code) => code || 0);

/** Anything, as plain JSON. */
export const anything = readBy((value) => toPlain(value ?? null), 'nested too deep');

const clientField = z.string().optional().catch(undefined);

/** Repeats what we sent and decides nothing: what cannot be read of it is left out. */
export const clientInfo = z
  .object({ client_id: clientField, client_ip: clientField, client_email: clientField })
  .nullish()
  .catch(null)
  .transform((fields) => (fields && Object.values(fields).some(Boolean) ? fields : null));

/** A list; nothing is an empty one. */
export const list = <T extends z.ZodType>(item: T) =>
  z
    .preprocess((value) => (isNothing(value) ? [] : value), z.array(item))
    .optional()
    .transform((items) => items ?? []);

/** An object; an empty list is an empty one. */
export const object = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (Array.isArray(value) && value.length === 0 ? {} : (value ?? undefined)), schema);

/** Longest text of a figure, in characters. */
const MAX_FIGURE_LENGTH = 100;

/** A decimal, also with the exponent that some writers give 0.0000001; nothing astronomic. */
const FIGURE = /^-?\d+(\.\d+)?([eE][+-]?\d{1,2})?$/;

/** Returns an amount as decimal string, no digit lost: "+10.00 " is 10.00, 1e-7 is 0.0000001. Undefined for "1,000.00". */
export function looseAmount(value: unknown): string | undefined {
  const text = isLosslessNumber(value) ? value.value : value;
  if (typeof text !== 'string' || text.length > MAX_FIGURE_LENGTH) return undefined;
  const figure = text.trim().replace(/^\+(?=\d)/, '');
  if (!FIGURE.test(figure)) return undefined;
  return SIGNED_AMOUNT_FORMAT.test(figure) ? figure : new Big(figure).toFixed();
}
