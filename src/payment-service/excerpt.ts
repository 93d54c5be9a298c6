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
 * What an answer says about why it is no order, safe to show: code and message of a JSON object that has such fields,
 * otherwise the start of the text; at most 300 characters. Hidden: what `maskWords` hides, URLs, card numbers with blanks,
 * the `secrets`, and every private value of the request, as a whole and word by word. undefined: it says nothing.
 */
export function excerptOf(body: Uint8Array, request: object, secrets: readonly string[] = []): string | undefined {
  const text = new TextDecoder().decode(body.subarray(0, MAX_BEGINNING_BYTES)).replaceAll('\uFFFD', '');
  // In the value of JSON nothing is escaped.
  const said = wordsOf(jsonOr(text, text))
    .join('')
    .replace(/<[^<>]*>/g, ' ');
  const hidden = hide(inOneForm(said), [...secrets, ...privateTexts(request)].map(inOneForm));
  // Cut last: half a wallet would no longer be known for one.
  const shown = maskWords(hidden.replace(/\s+/g, ' ').trim());
  if (shown === '') return undefined;
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS - 1)}…` : shown;
}

/** So often may a text have been escaped, each time as a whole: JSON in a message, a URL in a form, both in a page. */
const MAX_ESCAPES = 4;

/** Without escapes of JSON, URLs and HTML, and with accents as one character: so a text is known again however it is quoted. */
function inOneForm(text: string): string {
  let plain = text;
  for (let round = 0; round < MAX_ESCAPES && /[\\%&]/.test(plain); round += 1) plain = unescaped(plain);
  return plain.normalize('NFC');
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", szlig: 'ß' };

/** What HTML calls the accents of letters, as characters that combine with the letter before them. */
const ACCENTS: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030A',
  caron: '\u030C',
  cedil: '\u0327',
};

const unescaped = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_, four: string, two: string) => characterOf(four ?? two, 16))
    .replace(/(?:%[0-9a-f]{2})+/gi, ofUrl)
    .replace(/&#x([0-9a-f]{1,6});/gi, (_, code: string) => characterOf(code, 16))
    .replace(/&#(\d{1,7});/g, (_, code: string) => characterOf(code, 10))
    .replace(/&([a-z])([a-z]{3,5});/gi, (whole, letter: string, accent: string) =>
      ACCENTS[accent] === undefined ? whole : letter + ACCENTS[accent],
    )
    .replace(/&([a-z]{2,5});/g, (whole, name: string) => NAMED[name] ?? whole);

const characterOf = (digits: string, radix: number): string => {
  const code = Number.parseInt(digits, radix);
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
};

/** Of UTF-8 or, where that does not fit, of Latin-1. */
function ofUrl(bytes: string): string {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return bytes.replace(/%(..)/g, (_, code: string) => characterOf(code, 16));
  }
}

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
