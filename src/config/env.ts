import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { jsonOr } from '../contract/json.js';
import { AMOUNT_FORMAT, MAX_AMOUNT_LENGTH } from '../contract/money.js';
import { CURRENCY_FORMAT } from '../validation/request-schemas.js';
import { SecretList } from './secret.js';

/** Environment as read at start. `config.ts` is the only place of `src` that looks at `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Bad configuration: one line per mistake, each naming its variable and never showing a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Collects mistakes, so that an operator sees all of them at once. */
export class Problems {
  readonly #lines = new Set<string>();

  /** Notes a mistake of one variable. */
  add(variable: string, reason: string): void {
    this.#lines.add(`${variable}: ${reason}`);
  }

  /** Throws ConfigError when anything was noted. */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines]);
  }
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Longest duration that makes sense here; also keeps sums far from unsafe integers. */
const MAX_DURATION_MS = 366 * UNIT_MS.d;

/** Milliseconds of a text such as `250ms`, `5s`, `10m`, `6h` or `1d`; undefined for others, 0 and more than 366 days. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : 0;
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
}

/** What `read` makes of a variable; undefined when it is unset, and when `read` can make nothing of it, which is a mistake. */
function optional<T>(
  env: Env,
  name: string,
  problems: Problems,
  read: (text: string) => T | undefined,
  mistake: string,
): T | undefined {
  const text = env[name];
  if (!text) return undefined;
  const value = read(text);
  if (value === undefined) problems.add(name, mistake);
  return value;
}

/** A duration in milliseconds; `fallbackMs` when unset. */
export const duration = (env: Env, name: string, fallbackMs: number, problems: Problems): number =>
  optional(env, name, problems, durationMs, 'must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d') ??
  fallbackMs;

/** A TCP port; 0 lets the system choose. */
export function port(env: Env, name: string, fallback: number, problems: Problems): number {
  const read = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined);
  return optional(env, name, problems, read, 'must be a port number from 0 to 65535') ?? fallback;
}

/** A rate above 0; undefined when unset. */
export function rate(env: Env, name: string, problems: Problems): number | undefined {
  const read = (text: string) => (/^\d{1,6}(\.\d{1,3})?$/.test(text) && Number(text) > 0 ? Number(text) : undefined);
  return optional(env, name, problems, read, 'must be a number of requests per second above 0, such as 20');
}

/** True for statuses that may mean "not executed": 4xx and 5xx, but 400, which has its own path. */
export const isNotExecutedStatus = (status: number): boolean =>
  Number.isInteger(status) && status > 400 && status <= 599;

/** A comma list of such statuses; undefined when unset. */
export function statuses(env: Env, name: string, problems: Problems): readonly number[] | undefined {
  const read = (text: string) => {
    const items = text.split(',').map((item) => item.trim());
    return items.every((item) => /^\d{3}$/.test(item) && isNotExecutedStatus(Number(item)))
      ? items.map(Number)
      : undefined;
  };
  return optional(env, name, problems, read, 'must be a comma list of HTTP statuses from 401 to 599, such as 429');
}

/** True for the host of a URL, or to listen on, that no other machine reaches. */
export const isLoopbackHost = (hostname: string): boolean =>
  ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);

/** Why a URL may not be used, or undefined. Plain http would show payments to the network, so it is for loopback only. */
export function urlProblem(text: string): string | undefined {
  // The parser drops blanks and line breaks silently, so it cannot be the one to find them.
  if (/[^\x21-\x7e]/.test(text) || !URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  // Looked for in the text: an empty query or fragment is not to be seen in the parsed URL, but would swallow the path.
  if (/[?#]/.test(text)) return 'must not carry a query or fragment';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'must be an https URL';
  return isLoopbackHost(url.hostname) ? undefined : 'must be https (plain http is allowed to a loopback address only)';
}

/** `url` without the slashes at its end. */
export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');

/** Why a text cannot name a signer, or undefined. Whether a module can be loaded shows when the worker loads it. */
export function signerProblem(text: string): string | undefined {
  if (/^(hmac-sha256|hmac-sha512|[\x20-\x7e]*[./\\][\x20-\x7e]*)$/.test(text)) return undefined;
  return 'must be hmac-sha256, hmac-sha512 or the path of a module';
}

/** A bare host name or IP address to listen on. */
export function host(env: Env, name: string, fallback: string, problems: Problems): string {
  const isHost = (text: string) => isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text);
  const read = (text: string) => (isHost(text) ? text : undefined);
  return optional(env, name, problems, read, 'must be a host name or IP address') ?? fallback;
}

/** Shortest prefixes of networks: 10.0.0.0/8 and fc00::/7 are the largest that belong to one owner. */
const SHORTEST_PREFIX = { 4: 8, 6: 7 } as const;

/** Adds an address or network such as `10.0.0.0/8` to a list; false when it is none, or so large that it protects nothing. */
function addNetwork(list: BlockList, text: string): boolean {
  const [, address = '', prefix] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return false;
  const [family, bits] = version === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const length = Number(prefix ?? bits);
  if (length < SHORTEST_PREFIX[version] || length > bits) return false;
  list.addSubnet(address, length, family);
  return true;
}

/** A comma list of addresses and networks; undefined when unset. Empty is a mistake: it could mean all or nothing. */
export function addressList(env: Env, name: string, problems: Problems): BlockList | undefined {
  const text = env[name];
  if (text === undefined) return undefined;
  const list = new BlockList();
  if (text.split(',').every((entry) => addNetwork(list, entry.trim()))) return list;
  problems.add(name, 'must be a comma list of IP addresses and networks, such as 192.0.2.7,10.0.0.0/8 (none larger)');
  return undefined;
}

/** The origin of a web page, such as `https://temporal.example.com`; undefined when unset. */
export function origin(env: Env, name: string, problems: Problems): string | undefined {
  // Compared as text with what browsers send: a trailing slash or a path would never match.
  const isOrigin = (text: string) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
  const read = (text: string) => (isOrigin(text) ? text : undefined);
  return optional(env, name, problems, read, 'must be an origin such as https://temporal.example.com, without a path');
}

/** The content of a secret file without its last line break; undefined when it cannot be read. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

/** Why a key or secret cannot be one, or undefined. A newline would end up in a header, or be a badly pasted file. */
export function secretProblem(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  return /^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain blanks, line breaks or control characters';
}

/** A text from NAME or from the file that NAME_FILE names, checked by `problemOf`; '' when there is none. */
export function valueOrFile(
  env: Env,
  name: string,
  problems: Problems,
  problemOf: (value: string) => string | undefined,
): string {
  const path = env[`${name}_FILE`];
  if (env[name] !== undefined && path) problems.add(name, `is given twice: unset ${name} or ${name}_FILE`);
  if (env[name] === undefined && !path) {
    problems.add(name, `is required (or ${name}_FILE)`);
    return '';
  }
  const value = path ? readSecretFile(path) : env[name];
  const problem = value === undefined ? 'cannot be read' : problemOf(value);
  if (problem) problems.add(path ? `${name}_FILE` : name, problem);
  return value ?? '';
}

/** Shortest token and callback token key; a shorter one could be guessed, a key from callback URLs seen in transit. */
const MIN_TOKEN_KEY_LENGTH = 16;

/** Why a text cannot be a bearer token, or undefined. */
export function tokenProblem(token: string): string | undefined {
  const tooShort = token.length < MIN_TOKEN_KEY_LENGTH;
  return secretProblem(token) ?? (tooShort ? `must have at least ${MIN_TOKEN_KEY_LENGTH} characters` : undefined);
}

/** Every key counts, the empty one behind a stray comma too: it would verify callbacks that anybody can sign. */
function tokenKeysProblem(list: string): string | undefined {
  const tooShort = list.split(',').some((key) => key.length < MIN_TOKEN_KEY_LENGTH);
  return (
    secretProblem(list) ?? (tooShort ? `each key must have at least ${MIN_TOKEN_KEY_LENGTH} characters` : undefined)
  );
}

/** The comma list CALLBACK_TOKEN_KEY: the first signs, all verify. */
export function tokenKeys(env: Env, problems: Problems): readonly string[] {
  return SecretList.from(valueOrFile(env, 'CALLBACK_TOKEN_KEY', problems, tokenKeysProblem).split(','));
}

/** One of these words; undefined when unset. */
export function oneOf<T extends string>(
  env: Env,
  name: string,
  words: readonly T[],
  problems: Problems,
): T | undefined {
  return optional(env, name, problems, (text) => words.find((word) => word === text), `must be ${words.join(' or ')}`);
}

/** A JSON object of decimal strings by currency, such as `{"usd": "2000"}`; undefined when unset. */
export function amountsByCurrency(env: Env, name: string, problems: Problems): ReadonlyMap<string, string> | undefined {
  const read = (text: string) => {
    const { success, data } = amountsSchema.safeParse(jsonOr(text));
    return success ? new Map(Object.entries(data)) : undefined;
  };
  const mistake = 'must be JSON such as {"usd": "2000", "btc": "0.5"}: currencies and decimal strings';
  return optional(env, name, problems, read, mistake);
}

const amountsSchema = z.record(
  z.string().regex(CURRENCY_FORMAT),
  z.string().regex(AMOUNT_FORMAT).max(MAX_AMOUNT_LENGTH),
);
