import { readFileSync } from 'node:fs';
import type { Problems } from './problems.js';

type Env = Readonly<Record<string, string | undefined>>;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Longest duration that makes sense here; also keeps sums far from unsafe integers. */
const MAX_DURATION_MS = 366 * UNIT_MS.d;

/** A duration such as `250ms`, `5s`, `10m`, `6h`, `1d`, in milliseconds; `fallbackMs` when unset. */
export function duration(env: Env, name: string, fallbackMs: number, problems: Problems): number {
  const text = env[name];
  if (!text) return fallbackMs;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : 0;
  if (ms > 0 && ms <= MAX_DURATION_MS) return ms;
  problems.add(name, 'must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d');
  return fallbackMs;
}

/** A TCP port; 0 lets the system choose. */
export function port(env: Env, name: string, fallback: number, problems: Problems): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value <= 65_535) return value;
  problems.add(name, 'must be a port number from 0 to 65535');
  return fallback;
}

/** A rate above 0; undefined when unset. */
export function rate(env: Env, name: string, problems: Problems): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const value = Number(text);
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && value > 0) return value;
  problems.add(name, 'must be a number of requests per second above 0, such as 20');
  return undefined;
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

/** Why a URL may not be used, or undefined. Plain http would show payments to the network, so it is for loopback only. */
export function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  if (url.search || url.hash) return 'must not carry a query or fragment';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'must be an https URL';
  return isLoopback(url.hostname) ? undefined : 'must be https (plain http is allowed to a loopback address only)';
}

/** A base URL without trailing slash. */
export function baseUrl(env: Env, name: string, problems: Problems): string {
  const text = env[name];
  const problem = text ? urlProblem(text) : 'is required';
  if (problem) problems.add(name, problem);
  return (text ?? '').replace(/\/+$/, '');
}

/** The first line of a secret file; undefined when it cannot be read. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

/** Why a key or secret cannot be one, or undefined. A newline would end up in a header, or be a badly pasted file. */
export function secretProblem(value: string | undefined): string | undefined {
  if (value === undefined) return 'cannot be read';
  if (value === '') return 'must not be empty';
  return /^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain blanks, line breaks or control characters';
}

/** A secret from NAME or from the file that NAME_FILE names. */
export function secret(env: Env, name: string, problems: Problems): string {
  const path = env[`${name}_FILE`];
  if (env[name] !== undefined && path) problems.add(name, `is given twice: unset ${name} or ${name}_FILE`);
  if (env[name] === undefined && !path) {
    problems.add(name, `is required (or ${name}_FILE)`);
    return '';
  }
  const value = path ? readSecretFile(path) : env[name];
  const problem = secretProblem(value);
  if (problem) problems.add(path ? `${name}_FILE` : name, problem);
  return value ?? '';
}

/** Shortest callback token key; a shorter one could be guessed from callback URLs seen in transit. */
const MIN_TOKEN_KEY_LENGTH = 16;

/** The comma list CALLBACK_TOKEN_KEY: the first signs, all verify. */
export function tokenKeys(env: Env, problems: Problems): string[] {
  const keys = secret(env, 'CALLBACK_TOKEN_KEY', problems).split(',');
  if (keys.some((key) => key.length > 0 && key.length < MIN_TOKEN_KEY_LENGTH)) {
    problems.add('CALLBACK_TOKEN_KEY', `each key must have at least ${MIN_TOKEN_KEY_LENGTH} characters`);
  }
  return keys;
}
