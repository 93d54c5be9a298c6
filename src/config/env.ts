import { z } from 'zod';
import { AMOUNT_FORMAT, MAX_AMOUNT_LENGTH } from '../contract/money.js';
import { readJson } from '../validation/json-input.js';
import { CURRENCY_FORMAT } from '../validation/request-schemas.js';
import { SecretList } from './secret.js';
import { secretProblem, sourceOf, valueOrFile } from './sources.js';
import { isPredictable, TOO_EASY } from './strength.js';
import type { Allowance, Variable } from './variables.js';

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
  readonly #secrets = new Map<string, { purpose: string; name: string }>();
  readonly #env: Env;

  /** `env`: where allowances stand. */
  constructor(env: Env) {
    this.#env = env;
  }

  /** Notes a mistake of one variable. */
  add(variable: string, reason: string): void {
    this.#lines.add(`${variable}: ${reason}`);
  }

  /** Notes what is weak as a mistake, unless its allowance says aloud that it is wanted. */
  weak(allowance: Allowance, variable: string, reason: string): void {
    if (this.#env[allowance] !== 'true') this.add(variable, `${reason} (or say ${allowance}=true)`);
  }

  /** Notes a secret: used for another purpose, too, it is a mistake. `field`: of the file that the variable names. */
  secret(value: string, purpose: string, variable: string, field?: string): void {
    const known = this.#secrets.get(value);
    if (value === '') return;
    if (!known) this.#secrets.set(value, { purpose, name: field ?? variable });
    else if (known.purpose !== purpose) {
      const what = `is the same as ${known.name}: every secret has one purpose`;
      this.add(variable, field ? `${field} ${what}` : what);
    }
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

/** The same the other way round, in the largest unit that says it exactly. */
export function durationText(ms: number): string {
  const [unit, size] = Object.entries(UNIT_MS).findLast(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/** What `read` makes of a variable; undefined when it is unset, and when `read` can make nothing of it, which is a mistake. */
export function optional<T>(
  env: Env,
  name: Variable,
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
export const duration = (env: Env, name: Variable, fallbackMs: number, problems: Problems): number =>
  optional(env, name, problems, durationMs, 'must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d') ??
  fallbackMs;

/** A TCP port; 0 lets the system choose. */
export function port(env: Env, name: Variable, fallback: number, problems: Problems): number {
  const read = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined);
  const link = 'Kubernetes sets a URL for a service of that name: give the port, or set enableServiceLinks: false';
  const hint = /^\w+:\/\//.test(env[name] ?? '') ? ` (${link})` : '';
  return optional(env, name, problems, read, `must be a port number from 0 to 65535${hint}`) ?? fallback;
}

/** True for a limit that limits something and stops nothing, in requests per second. */
export const isRate = (rate: number): boolean => rate >= 0.1 && rate <= 1_000;

/** Why something cannot be such a limit. */
export const RATE_MISTAKE = 'must be a number of requests per second from 0.1 to 1000, such as 20';

/** Such a limit; undefined when unset. */
export function rate(env: Env, name: Variable, problems: Problems): number | undefined {
  const read = (text: string) =>
    /^\d{1,4}(\.\d{1,3})?$/.test(text) && isRate(Number(text)) ? Number(text) : undefined;
  return optional(env, name, problems, read, RATE_MISTAKE);
}

/** True for statuses that may mean "not executed": 4xx and 5xx, but 400, which has its own path. */
export const isNotExecutedStatus = (status: number): boolean =>
  Number.isInteger(status) && status > 400 && status <= 599;

/** Refuses a list that names a status twice, or one that something answers which may have passed the create on. */
export function checkStatuses(list: readonly number[], problems: Problems, variable: string, field = ''): void {
  if (new Set(list).size < list.length) problems.add(variable, `${field}names a status twice`);
  if (!list.some((status) => status >= 500 || status === 408 || status === 409)) return;
  const what = 'names 408, 409 or a 5xx, behind which a create may well have been executed, and is then paid twice';
  problems.weak('ALLOW_AMBIGUOUS_STATUSES', variable, field + what);
}

/** A comma list of such statuses; undefined when unset. */
export function statuses(env: Env, name: Variable, problems: Problems): readonly number[] | undefined {
  const read = (text: string) => {
    const items = text.split(',').map((item) => item.trim());
    return items.every((item) => /^\d{3}$/.test(item) && isNotExecutedStatus(Number(item)))
      ? items.map(Number)
      : undefined;
  };
  const mistake = 'must be a comma list of HTTP statuses from 401 to 599, such as 429';
  const list = optional(env, name, problems, read, mistake);
  checkStatuses(list ?? [], problems, name);
  return list;
}

/** Why a text cannot name a signer, or undefined. Whether a module can be loaded shows when the worker loads it. */
export function signerProblem(text: string): string | undefined {
  if (/^(hmac-sha256|hmac-sha512|[\x20-\x7e]*[./\\][\x20-\x7e]*)$/.test(text)) return undefined;
  return 'must be hmac-sha256, hmac-sha512 or the path of a module';
}

/** Shortest token and callback token key; a shorter one could be guessed, a key from callback URLs seen in transit. */
const MIN_TOKEN_KEY_LENGTH = 16;

/** Keys of 16 random characters have more different ones, hexadecimal digits too. */
const MIN_DIFFERENT_CHARACTERS = 8;

const isEasy = (key: string): boolean => isPredictable(Buffer.from(key), MIN_DIFFERENT_CHARACTERS);

/** Why a text cannot be a bearer token, or undefined. */
export function tokenProblem(token: string): string | undefined {
  const unprintable = secretProblem(token);
  if (unprintable) return unprintable;
  if (token.length < MIN_TOKEN_KEY_LENGTH) return `must have at least ${MIN_TOKEN_KEY_LENGTH} characters`;
  return isEasy(token) ? TOO_EASY : undefined;
}

/** Every key counts, the empty one behind a stray comma too: it would verify callbacks that anybody can sign. */
function tokenKeysProblem(list: string): string | undefined {
  const unprintable = secretProblem(list);
  if (unprintable) return unprintable;
  const keys = list.split(',');
  if (keys.some((key) => key.length < MIN_TOKEN_KEY_LENGTH)) {
    return `each key must have at least ${MIN_TOKEN_KEY_LENGTH} characters`;
  }
  if (keys.some(isEasy)) return TOO_EASY;
  return new Set(keys).size === keys.length ? undefined : 'names the same key twice';
}

/** The comma list CALLBACK_TOKEN_KEY: the first signs, all verify. */
export function tokenKeys(env: Env, problems: Problems): string[] {
  const keys = valueOrFile(env, 'CALLBACK_TOKEN_KEY', problems, tokenKeysProblem).split(',');
  for (const key of keys) problems.secret(key, 'token key', sourceOf(env, 'CALLBACK_TOKEN_KEY'));
  return SecretList.from(keys);
}

/** One of these words; undefined when unset. */
export function oneOf<T extends string>(
  env: Env,
  name: Variable,
  words: readonly T[],
  problems: Problems,
): T | undefined {
  return optional(env, name, problems, (text) => words.find((word) => word === text), `must be ${words.join(' or ')}`);
}

/** A JSON object of decimal strings by currency, such as `{"usd": "2000"}`; undefined when unset. */
export function amountsByCurrency(
  env: Env,
  name: Variable,
  problems: Problems,
): ReadonlyMap<string, string> | undefined {
  const text = env[name];
  if (!text) return undefined;
  const { value, problem } = readJson(text);
  const { success, data = {} } = amountsSchema.safeParse(value);
  const mistake = 'must be JSON such as {"usd": "2000", "btc": "0.5"}: currencies in lower case and decimal strings';
  if (problem?.startsWith('names')) problems.add(name, problem);
  else if (!success) problems.add(name, mistake);
  else if (Object.keys(data).length === 0) problems.add(name, 'names no currency: unset it if there are no caps');
  return new Map(Object.entries(data));
}

const amountsSchema = z.record(
  z.string().regex(CURRENCY_FORMAT),
  z.string().regex(AMOUNT_FORMAT).max(MAX_AMOUNT_LENGTH),
);
