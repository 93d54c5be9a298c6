import { isIP } from 'node:net';
import { z } from 'zod';
import { AMOUNT_FORMAT, MAX_AMOUNT_LENGTH } from '../contract/money.js';
import type { Canary } from '../contract/order/canary.js';
import { FOLLOW_UP_TYPES } from '../contract/order/types.js';
import { readJson } from '../validation/json-input.js';
import { CURRENCY_FORMAT } from '../validation/request-schemas.js';
import { hidden, Secret } from './secret.js';

/** Returns true for a loopback host, in brackets or not. */
export const isLoopback = (hostname: string): boolean => /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);

/** A path that every server and proxy interprets in the same way. */
const PLAIN_PATH = /^(\/[A-Za-z0-9._~-]+)*\/?$/;

const IN_ASCII =
  'must be in ASCII: write its host as node -p \'new URL("https://…").host\' shows it, such as xn--mnchen-3ya.example';

/** Returns why a URL is not in the form in which programs send it. */
export const asciiProblem = (url: string): string | undefined =>
  /[^\p{ASCII}]/u.test(url) && URL.canParse(url) ? IN_ASCII : undefined;

/** Returns why a URL may not be used. Plain http is for loopback only: it would expose payments. */
export function urlProblem(text: string): string | undefined {
  // The parser drops blanks and line breaks silently, so they are found here.
  if (/[^\x21-\x7e]/.test(text) || !URL.canParse(text)) return asciiProblem(text) ?? 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  // Checked in the text, because a parsed URL hides an empty query or fragment.
  if (/[?#]/.test(text)) return 'must not carry a query or fragment';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must be https (plain http is allowed to a loopback address only)';
  }
  if ((url.href === text || url.href === `${text}/`) && PLAIN_PATH.test(url.pathname)) return undefined;
  return 'must be written as it is used: a lower-case host, no usual port, and no %, \\, empty, . or .. parts in its path';
}

/** Returns a URL without trailing slashes. */
export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');

type ProblemOf = (text: string) => string | undefined;

/** Returns a schema of texts without a problem. */
export const checkedBy = (problemOf: ProblemOf) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message) context.addIssue({ code: 'custom', message });
  });

/** Returns a schema that reads a text; undefined is a mistake. */
export const readBy = <T>(read: (text: string) => T | undefined, message: string) =>
  z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** Schema of one of some words. */
export const oneOf = <const T extends readonly string[]>(...words: T) =>
  z.enum(words, { error: `must be ${words.join(' or ')}` });

/** Schema of `true` and `false`. */
export const flag = oneOf('true', 'false').transform((text) => text === 'true');

/** Returns a schema of a comma list. */
const commaList = <T extends z.ZodType<unknown, string>>(item: T) =>
  z
    .string()
    .transform((text) => text.split(/, */))
    .pipe(z.array(item));

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Maximum duration. It also keeps sums far below unsafe integers. */
const MAX_DURATION_MS = 366 * UNIT_MS.d;

/**
 * Returns the milliseconds of `250ms`, `5s`, `10m`, `6h` or `1d`; undefined if invalid, 0 or above
 * 366 days.
 */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : 0;
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
}

/** Schema of a duration, in milliseconds. */
export const duration = readBy(durationMs, 'must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d');

/** Schema of a TCP port; 0 lets the system choose. */
export const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port number from 0 to 65535')
  .transform(Number);

const isHost = (text: string): boolean =>
  isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text);

/** Schema of a bare host name or IP address to listen on. */
export const host = z.string().refine(isHost, 'must be a host name or IP address');

/** Returns an IP address and a port, or undefined. */
function addressAndPort(text: string): { host: string; port: number } | undefined {
  const [, six, four, digits = ''] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = six ?? four ?? '';
  const number = Number(digits);
  return isIP(address) === (six === undefined ? 4 : 6) && number <= 65_535
    ? { host: address, port: number }
    : undefined;
}

/** Schema of an IP address and a port. `example`: of a right one. */
export const listenAddress = (example: number) =>
  readBy(addressAndPort, `must be an IP address and a port such as 127.0.0.1:${example} or [::1]:${example}`);

const isPage = (text: string): boolean => {
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text)) return false;
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.startsWith(text);
};

const PAGE = 'must be the URL of the Temporal UI, such as https://temporal.example.com';

/** Schema of the URL of a web page, without trailing slashes. */
export const pageUrl = checkedBy((text) => (isPage(text) ? undefined : (asciiProblem(text) ?? PAGE))).transform(
  withoutTrailingSlash,
);

/** Schema of a base URL, without trailing slashes. */
export const baseUrl = checkedBy(urlProblem).transform(withoutTrailingSlash);

const RATE = 'must be a number of requests per second from 0.1 to 1000, such as 20';

/** Schema of a request limit that is not too low to work. */
export const requestRate = z.number().refine((rate) => rate >= 0.1 && rate <= 1_000, RATE);

/** Schema of such a limit as text. */
export const requestRateText = z
  .string()
  .regex(/^\d{1,4}(\.\d{1,3})?$/, RATE)
  .transform(Number)
  .pipe(requestRate);

const STATUS = 'must be a status from 401 to 499, but 408 and 409: behind the others a create may have been executed';

/** Returns true if no entry occurs twice. */
export const unique = (list: readonly unknown[]): boolean => new Set(list).size === list.length;

/**
 * Schema of statuses that may prove that a create was not executed. Excludes statuses that a proxy
 * answers after forwarding.
 */
export const notExecutedStatuses = z
  .array(z.int().refine((status) => status > 400 && status < 500 && ![408, 409].includes(status), STATUS))
  .refine(unique, 'names a status twice');

/** Schema of such statuses as a comma list. */
export const notExecutedStatusesText = commaList(
  z
    .string()
    .regex(/^\d{3}$/, STATUS)
    .transform(Number),
).pipe(notExecutedStatuses);

/** Schema of the fingerprint of an earlier key. */
export const fingerprint = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'must be as doctor shows it behind # of an account: 16 digits 0-9a-f');

/** Schema of such fingerprints as a comma list. */
export const fingerprints = commaList(fingerprint);

/** Schema of a signer's name. The worker reports a module that it cannot load. */
export const signer = z
  .string()
  .regex(
    /^(hmac-sha256|hmac-sha512|[\x20-\x7e]*[./\\][\x20-\x7e]*)$/,
    'must be hmac-sha256, hmac-sha512 or the path of a module',
  );

/**
 * Returns why a text cannot be a secret. A newline would reach a header, or come from a badly
 * pasted file.
 */
export function secretProblem(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  return /^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain blanks, line breaks or control characters';
}

/** Schema of a key or secret of the service. */
export const secret = checkedBy(secretProblem).transform((text) => new Secret(text));

/** Reason for refusing a key that is not random. */
export const TOO_EASY = 'must not be easy to guess: make it with openssl rand -base64 32';

/** Returns true for bytes with few different values, such as placeholders. */
export const isPredictable = (bytes: Uint8Array, minDifferent: number): boolean => new Set(bytes).size < minDifferent;

/** Shorter tokens and callback keys could be guessed. */
const MIN_TOKEN_LENGTH = 16;

/** Random keys of 16 characters have more different ones, even in hexadecimal. */
const MIN_DIFFERENT_CHARACTERS = 8;

function tokenProblem(key: string): string | undefined {
  if (key.length < MIN_TOKEN_LENGTH) return `must have at least ${MIN_TOKEN_LENGTH} characters`;
  return isPredictable(Buffer.from(key), MIN_DIFFERENT_CHARACTERS) ? TOO_EASY : undefined;
}

/** Schema of a bearer token. */
export const token = checkedBy((text) => secretProblem(text) ?? tokenProblem(text)).transform(
  (text) => new Secret(text),
);

/** Schema of callback keys. Every key must be safe, because each can sign, even an empty one. */
export const tokenKeys = checkedBy((list) => {
  const keys = list.split(',');
  const problem = secretProblem(list) ?? keys.map(tokenProblem).find((found) => found !== undefined);
  return problem ?? (unique(keys) ? undefined : 'names the same key twice');
}).transform((list): string[] => hidden(list.split(',')));

const CAPS = 'must be JSON such as {"usd": "2000", "btc": "0.5"}: currencies in lower case and decimal strings';

/** Identities hold at most 1,000 characters. */
const MAX_CAPS_LENGTH = 400;

/** Schema of decimal strings by currency. */
export const amounts = z
  .record(
    z.string().regex(CURRENCY_FORMAT),
    z.string(CAPS).regex(AMOUNT_FORMAT, CAPS).max(MAX_AMOUNT_LENGTH, CAPS),
    CAPS,
  )
  .refine((given) => Object.keys(given).length > 0, 'names no currency: unset it if there are no caps');

/** Parses a JSON object of decimal strings by currency into a map. */
export const amountsByCurrency = z
  .string()
  .max(MAX_CAPS_LENGTH, `must have at most ${MAX_CAPS_LENGTH} characters: workers publish it to each other`)
  .transform((text, context): unknown => {
    const { value, problem } = readJson(text);
    if (problem) context.addIssue({ code: 'custom', message: problem.startsWith('names') ? problem : CAPS });
    return value;
  })
  .pipe(amounts)
  .transform((given): ReadonlyMap<string, string> => new Map(Object.entries(given)));

const CANARY =
  'must be as in {"currency": "usd", "network": "card", "amount": "1", "countsFor": ["withdraw"]}: a deposit, and the types that begin on the balance for which it counts';

/** Schema of a canary. */
export const canary: z.ZodType<Canary> = z.strictObject(
  {
    currency: z.string(CANARY).regex(CURRENCY_FORMAT, CANARY),
    network: z.string(CANARY).regex(CURRENCY_FORMAT, CANARY),
    amount: z.string(CANARY).regex(AMOUNT_FORMAT, CANARY).max(MAX_AMOUNT_LENGTH, CANARY),
    countsFor: z.array(z.enum(FOLLOW_UP_TYPES, CANARY), CANARY).refine(unique, 'names a type twice'),
  },
  CANARY,
);

const INSTANT = z.iso.datetime({ offset: true });

/** Schema of a past time in ms since the epoch. A future time would delay every order. */
export const passedInstant = readBy((text) => {
  const ms = INSTANT.safeParse(text).success ? Date.parse(text) : Number.NaN;
  return ms <= Date.now() ? ms : undefined;
}, 'must be a time that has passed, with its zone, such as 2026-01-31T09:30:00Z');
