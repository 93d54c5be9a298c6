import { isLosslessNumber, parse } from 'lossless-json';
import type { FieldError } from '../contract/failures.js';
import { maskName } from '../contract/masking.js';

/** A JSON text as our inputs have it: numbers are JavaScript numbers, and each one that stands as an amount is an error. */
export interface JsonValue {
  value: unknown;
  errors: FieldError[];
}

/** Reads JSON without losing a digit before it is refused. `path` names it in errors, which never quote it. */
export function readJson(text: string, path: string): JsonValue {
  const errors: FieldError[] = [];
  try {
    return { value: plain(parse(text), path, errors), errors };
  } catch (error) {
    return { value: undefined, errors: [{ field: path, reason: jsonProblem(error) }] };
  }
}

/** The parser's messages quote the input, which may hold a wallet: only kind and position are passed on. */
function jsonProblem(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  const message = error instanceof Error ? error.message : '';
  const position = /at position \d+$/.exec(message)?.[0] ?? '';
  return `${message.startsWith('Duplicate key') ? 'names a field twice' : 'is not JSON'} ${position}`.trimEnd();
}

function plain(value: unknown, path: string, errors: FieldError[]): unknown {
  if (isLosslessNumber(value)) {
    if (/(^|\.)amount$/.test(path)) errors.push({ field: path, reason: 'amounts are strings, like "10.50"' });
    return Number(value.value);
  }
  if (Array.isArray(value)) return value.map((item, index) => plain(item, `${path}[${index}]`, errors));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, plain(child, `${path}.${maskName(key)}`, errors)]),
  );
}
