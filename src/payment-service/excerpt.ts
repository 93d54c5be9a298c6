import { jsonOr } from '../contract/json.js';
import { maskWords } from '../contract/masking.js';
import { REQUEST_FIELDS } from '../contract/order/request.js';

/** As much of an answer is looked at, in bytes. */
export const MAX_BEGINNING_BYTES = 16 * 1024;

/** Longest excerpt shown. */
const MAX_CHARS = 300;

/** Fields by which services say what is wrong, in the order in which they are shown. Their answers are not documented. */
const TELLING = ['code', 'error_code', 'title', 'message', 'error_message', 'error', 'detail', 'errors'];

/** Fields of requests whose values anybody may see; everything else in a request may be about a person or secret. */
const PUBLIC_FIELDS = new Set([
  ...['order_ids', 'order_uuid', 'order_type', 'status', 'date_from', 'date_to'],
  ...Object.entries(REQUEST_FIELDS).flatMap(([name, { privacy }]) => (privacy === 'public' ? [name] : [])),
]);

/**
 * Returns what an answer says, safe to show: code and message of JSON, else the start of the text.
 * Hidden are secrets, private values of the request, URLs, and what `maskWords` hides.
 */
export function excerptOf(body: Uint8Array, request: object, secrets: readonly string[] = []): string | undefined {
  const text = new TextDecoder().decode(body.subarray(0, MAX_BEGINNING_BYTES)).replaceAll('\uFFFD', '');
  // In the value of JSON nothing is escaped.
  const said = wordsOf(jsonOr(text, text))
    .join('')
    .replace(/<[^<>]*>/g, ' ');
  const inOneForm = (text: string): string => text.normalize('NFC');
  const readable = inOneForm(said).replace(/\S+/g, (word) => (ESCAPE.test(word) ? '****' : word));
  const hidden = hide(readable, [...secrets, ...privateTexts(request)].map(inOneForm));
  // Cut last: half a wallet would no longer be known for one.
  const shown = maskWords(hidden.replace(/\s+/g, ' ').trim());
  if (shown === '') return undefined;
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS - 1)}…` : shown;
}

/** An escape of JSON, URLs or HTML: in a word with one a private value could not be found. */
const ESCAPE = /\\[a-z]|%[0-9a-f]{2}|&#?\w{1,8};/i;

/** A value as words: of an object its telling fields, or all of it where it has none. [] for what says nothing. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? [] : [String(value)];
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [];
  const told = TELLING.flatMap((field) => wordsOf((value as Record<string, unknown>)[field]));
  return [told.length > 0 ? told.join(': ') : JSON.stringify(value)];
}

/** Parts of a URL as long as a token, which lets its holder post callbacks. */
const TOKENS = /[\w-]{20,}/g;

/** Texts of a request that must not be shown, at any depth. */
function privateTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.split(/[\s,;]+/), ...(value.match(TOKENS) ?? [])];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (PUBLIC_FIELDS.has(key) ? [] : privateTexts(item)));
}

function hide(text: string, hidden: readonly string[]): string {
  const known = [...new Set(hidden)].filter((each) => each.length > 1).sort((a, b) => b.length - a.length);
  const withoutKnown = known.reduce((rest, each) => rest.replace(patternOf(each), '****'), text);
  return withoutKnown.replace(/https?:\S+/gi, '****').replace(/\d(?:[ -]?\d){7,}/g, '****');
}

/** Finds a text in any case; a long one also in groups, as cards and IBANs are written; a short one as a word. */
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
