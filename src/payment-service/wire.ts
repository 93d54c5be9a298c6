import Big from 'big.js';
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { AMOUNT_FORMAT, SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import { serviceDate } from '../contract/reconcile/input.js';
import { InvalidRequestError, MalformedResponseError, TooManyValuesError } from './errors.js';

/** Maximum nesting of undocumented parts of an answer. */
const MAX_DEPTH = 32;

/**
 * Returns the bytes that are signed and sent. Amounts become exact number tokens; null fields are
 * left out, because only absent fields are documented.
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

/** Maximum values per answer. A page of 1000 orders has about 50,000, at 100 bytes each. */
const MAX_VALUES = 1_000_000;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/** Returns whether JSON has more than `most` values, by counting commas and opening brackets. */
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
 * Parses an answer; numbers stay text (LosslessNumber). Throws MalformedResponseError for invalid
 * JSON or UTF-8, too many values, deep nesting, and a key with two values.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (hasMoreValues(bytes, MAX_VALUES)) throw new TooManyValuesError(MAX_VALUES);
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new MalformedResponseError([{ field: 'body', reason: 'not JSON' }]);
  }
}

/**
 * Returns plain JSON of an undocumented part, with numbers as text. Throws a RangeError if nested
 * too deep.
 */
export function toPlain(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  if (isLosslessNumber(value)) return value.toString();
  if (Array.isArray(value)) return value.map((item) => toPlain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // A harmless own key here, but dangerous for code that copies fields by assignment.
      .filter(([key]) => key !== '__proto__')
      .map(([key, item]) => [key, toPlain(item, depth + 1)]),
  );
}

/**
 * Returns a value as text: numbers by their digits, objects as JSON. Throws a RangeError if nested
 * too deep.
 */
function textOf(value: unknown): string {
  const plain = toPlain(value);
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}

/**
 * Returns a safe integer, also from text. Returns other values unchanged for the schema to refuse.
 */
export function toInteger(value: unknown): unknown {
  const text = isLosslessNumber(value) ? value.value : value;
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : value;
}

/**
 * Types of the service's fields, as tolerant as is safe. An undocumented form is read only if it
 * has one meaning; amounts are never guessed.
 */

/** Returns true for what services write for "none". Some write [] for an empty object. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const orNullIfNothing = (value: unknown): unknown => (isNothing(value) ? null : value);

/** Text that is not empty. */
export const word = z.string().min(1);

/**
 * Reads a value that may be missing. `mistake`: the message if `read` throws or returns nothing.
 */
const readBy = <T>(read: (value: unknown) => T | undefined, mistake: string) =>
  z
    .unknown()
    .optional()
    .transform((value, context): T => {
      try {
        const made = read(value);
        if (made !== undefined) return made;
      } catch {
        // The message below says it.
      }
      context.addIssue({ code: 'custom', message: mistake });
      return z.NEVER;
    });

/** JSON Schema of what a transformation returns, which zod cannot know. */
const gives = (...type: ('string' | 'integer' | 'boolean' | 'array' | 'null')[]) => ({
  type: type.length === 1 ? type[0] : type,
});

/** Any text. Numbers become their digits, other values their JSON; '' stays ''. */
export const textOrNull = readBy(
  (value) => (typeof value === 'string' ? value : isNothing(value) ? null : textOf(value)),
  'nested too deep',
).meta(gives('string', 'null'));

/** The same, with '' for null. */
export const textOrEmpty = textOrNull.transform((value) => value ?? '').meta(gives('string'));

/** The same, with null for ''. */
export const wordOrNull = textOrNull.transform((value) => value || null).meta(gives('string', 'null'));

/** Date by the service's clock, or null if there is none that can be read; see `serviceDate`. */
export const dateOrNull = textOrNull
  .transform((value) => (value && serviceDate(value)) || null)
  .meta(gives('string', 'null'));

/** The same, with '' for null. */
export const dateOrEmpty = dateOrNull.transform((value) => value ?? '').meta(gives('string'));

/** Decimal string; see `looseAmount` for other accepted forms. */
export const amount = z
  .preprocess(looseAmount, z.string('not a decimal string'))
  .meta({ pattern: SIGNED_AMOUNT_FORMAT.source });

/** Adds null to a schema, for missing values. */
const orNull = <T extends z.ZodType>(schema: T, type: 'string' | 'integer') =>
  z
    .preprocess(orNullIfNothing, schema.nullable())
    .optional()
    .transform((value) => value ?? null)
    .meta(gives(type, 'null'));

/** Amount, or null if there is none. */
export const amountOrNull = orNull(amount, 'string').meta({
  ...gives('string', 'null'),
  pattern: SIGNED_AMOUNT_FORMAT.source,
});

/** Message for an amount that is an empty object or list. Another answer may have it. */
export const EMPTY_FIGURE = 'an empty object or list';

/**
 * Amount of a list item, or null. Refuses an empty object or list: the status may have the amount.
 */
export const figureOrNull = z
  .unknown()
  .optional()
  .superRefine((value, context) => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) {
      context.addIssue({ code: 'custom', message: EMPTY_FIGURE });
    }
  })
  .pipe(amountOrNull);

/** Safe integer, also as text. */
export const integer = z.preprocess(toInteger, z.int());

/** The same, or null. */
export const integerOrNull = orNull(integer, 'integer');

/** Number of decimal places; -1 if the service does not say. */
export const precision = integerOrNull.transform((places) => places ?? -1).meta(gives('integer'));

const FLAGS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** true or false, also as 1, 0 or text. Missing means false. */
export const flag = readBy((value) => {
  if (isNothing(value)) return false;
  const text = isLosslessNumber(value) ? value.value : typeof value === 'object' ? '' : String(value);
  return Object.hasOwn(FLAGS, text) ? FLAGS[text] : undefined;
}, 'not true or false').meta(gives('boolean'));

/** Integer or word. Missing means 0, the service's "no error". */
export const errorCode = z
  .union([integer, textOrNull])
  .optional()
  .transform((code) => code || 0)
  .meta(gives('integer', 'string'));

/** Any value, as plain JSON. */
export const anything = readBy((value) => toPlain(value ?? null), 'nested too deep');

const clientField = z.string().optional().catch(undefined);

/** Repeats our own data and decides nothing, so unreadable parts are dropped. */
export const clientInfo = z
  .object({ client_id: clientField, client_ip: clientField, client_email: clientField })
  .nullish()
  .catch(null)
  .transform((fields) => (fields && Object.values(fields).some(Boolean) ? fields : null));

/** List. Missing means empty. */
export const list = <T extends z.ZodType>(item: T) =>
  z
    .preprocess((value) => (isNothing(value) ? [] : value), z.array(item))
    .optional()
    .transform((items) => items ?? [])
    .meta(gives('array'));

/** Object. An empty list means an empty object. */
export const object = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (Array.isArray(value) && value.length === 0 ? {} : (value ?? undefined)), schema);

/** Maximum length of a figure. */
const MAX_FIGURE_LENGTH = 100;

/** A decimal, also with the exponent that some programs write for 0.0000001. */
const FIGURE = /^-?\d+(\.\d+)?([eE][+-]?\d{1,2})?$/;

/**
 * Returns an amount as exact decimal string: "+10.00 " is 10.00, 1e-7 is 0.0000001; undefined for
 * "1,000.00".
 */
function looseAmount(value: unknown): string | undefined {
  const text = isLosslessNumber(value) ? value.value : value;
  if (typeof text !== 'string' || text.length > MAX_FIGURE_LENGTH) return undefined;
  const figure = text.trim().replace(/^\+(?=\d)/, '');
  if (!FIGURE.test(figure)) return undefined;
  return SIGNED_AMOUNT_FORMAT.test(figure) ? figure : new Big(figure).toFixed();
}
