import { jsonOr } from '../contract/json.js';
import { maskWords } from '../contract/masking.js';
import { REQUEST_FIELDS } from '../contract/order/request.js';

/** Maximum number of bytes of an answer that an excerpt is made from. */
export const MAX_BEGINNING_BYTES = 16 * 1024;

/** Maximum length of an excerpt. */
const MAX_CHARS = 300;

/** Fields in which services usually explain an error, in display order. They are undocumented. */
const TELLING = ['code', 'error_code', 'title', 'message', 'error_message', 'error', 'detail', 'errors'];

/** Request fields whose values are public. All other values may be personal or secret. */
const PUBLIC_FIELDS = new Set([
  ...['order_ids', 'order_uuid', 'order_type', 'status', 'date_from', 'date_to'],
  ...Object.entries(REQUEST_FIELDS).flatMap(([name, { privacy }]) => (privacy === 'public' ? [name] : [])),
]);

/**
 * Returns a safe excerpt of an answer: code and message of JSON, or the start of the text. Hides
 * secrets, private values of the request, URLs, and what `maskWords` hides.
 */
export function excerptOf(body: Uint8Array, request: object, secrets: readonly string[] = []): string | undefined {
  const text = new TextDecoder().decode(body.subarray(0, MAX_BEGINNING_BYTES)).replaceAll('\uFFFD', '');
  // A parsed JSON value contains no escapes.
  const said = wordsOf(jsonOr(text, text))
    .join('')
    .replace(/<[^<>]*>/g, ' ');
  const inOneForm = (text: string): string => text.normalize('NFC');
  const readable = inOneForm(said).replace(/\S+/g, (word) => (ESCAPE.test(word) ? '****' : word));
  const hidden = hide(readable, [...secrets, ...privateTexts(request)].map(inOneForm));
  // Cut last, because half a wallet could not be recognised.
  const shown = maskWords(hidden.replace(/\s+/g, ' ').trim());
  if (shown === '') return undefined;
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS - 1)}…` : shown;
}

/** An escape of JSON, URLs or HTML. A word with an escape could hide a private value. */
const ESCAPE = /\\[a-z]|%[0-9a-f]{2}|&#?\w{1,8};/i;

/** Returns the texts of a value: an object's explaining fields, or all of it; [] if it has none. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? [] : [String(value)];
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [];
  const told = TELLING.flatMap((field) => wordsOf((value as Record<string, unknown>)[field]));
  return [told.length > 0 ? told.join(': ') : JSON.stringify(value)];
}

/** Parts of a URL that are as long as a callback token. */
const TOKENS = /[\w-]{20,}/g;

/** Returns the texts of a request that must not be shown, at any depth. */
function privateTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.split(/[\s,;]+/), ...(value.match(TOKENS) ?? [])];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (PUBLIC_FIELDS.has(key) ? [] : privateTexts(item)));
}

function hide(text: string, hidden: readonly string[]): string {
  const holds = mayHold(text);
  const known = [...new Set(hidden)]
    .filter((each) => each.length > 1 && holds(each))
    .sort((a, b) => b.length - a.length);
  const withoutKnown = known.reduce((rest, each) => rest.replace(patternOf(each), '****'), text);
  return withoutKnown.replace(/https?:\S+/gi, '****').replace(/\d(?:[ -]?\d){7,}/g, '****');
}

const bare = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** Returns whether patterns need to be tried, each of which costs milliseconds. */
function mayHold(text: string): (each: string) => boolean {
  // Other letters, such as \u017f for s, match by rules of their own.
  const letters = /^[\0-\x7f]*$/.test(text) ? bare(text) : undefined;
  return (each) => letters?.includes(bare(each)) ?? true;
}

/** Returns a pattern for a text in any case: long texts also in groups, short ones as words. */
function patternOf(text: string): RegExp {
  const escaped = (part: string): string => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const characters = Array.from(text.replace(/[^\p{L}\p{N}]/gu, ''));
  const isLong = text.length >= 8;
  const grouped =
    characters.length >= 8
      ? characters.join('[^\\p{L}\\p{N}]*')
      : Array.from(text.replace(/[\s-]/g, ''), escaped).join('[\\s-]*');
  const body = isLong ? grouped : escaped(text);
  return new RegExp(isLong ? body : `(?<![\\p{L}\\p{N}])${body}(?![\\p{L}\\p{N}])`, 'giu');
}
