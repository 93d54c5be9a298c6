import { isLosslessNumber, parse } from 'lossless-json';
import type { FieldError } from '../contract/failures.js';
import { keyGivenTwice } from '../contract/json.js';
import { maskName } from '../contract/masking.js';

/** Value of a JSON text with JavaScript numbers. Each number in place of an amount is an error. */
export interface JsonInput {
  value: unknown;
  errors: FieldError[];
  /** Why the text is unreadable, such as 'is not JSON at position 7'. Quotes nothing of it. */
  problem?: string;
}

const AMOUNT_FIELDS = ['amount', 'amount_to'];

/** Reads typed or exported JSON without losing digits. `path` starts the fields' names. */
export function readJson(text: string, path = ''): JsonInput {
  const errors: FieldError[] = [];
  try {
    return { value: withoutNumberObjects(parse(text), path, errors), errors };
  } catch (error) {
    return { value: undefined, errors, problem: problemOf(error, text) };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the bytes of a JSON text, without a byte order mark; no bytes are null. */
export function readJsonBytes(bytes: Uint8Array): JsonInput {
  try {
    return readJson(utf8.decode(bytes) || 'null');
  } catch {
    return { value: undefined, errors: [], problem: 'is not UTF-8' };
  }
}

/** The parser's messages quote the text, so only kind, key and position are used. */
function problemOf(error: unknown, text: string): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  const message = error instanceof Error ? error.message : '';
  const position = /at position \d+/.exec(message)?.[0] ?? '';
  const twice = message.startsWith('Duplicate key') ? keyGivenTwice(text) : undefined;
  const what = twice === undefined ? 'is not JSON' : `names the field ${maskName(twice)} twice with different values`;
  return `${what} ${position}`.trimEnd();
}

function withoutNumberObjects(value: unknown, path: string, errors: FieldError[]): unknown {
  if (isLosslessNumber(value)) {
    if (AMOUNT_FIELDS.includes(path.split('.').at(-1) ?? '')) {
      errors.push({ field: path, reason: `amounts are strings: write "${value.value.slice(0, 40)}"` });
    }
    return Number(value.value);
  }
  if (Array.isArray(value)) return value.map((item, index) => withoutNumberObjects(item, `${path}[${index}]`, errors));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, child]) => {
    const name = maskName(key);
    return [key, withoutNumberObjects(child, path === '' ? name : `${path}.${name}`, errors)];
  });
  return Object.fromEntries(entries);
}
