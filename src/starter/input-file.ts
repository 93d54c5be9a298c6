import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { isLosslessNumber, parse } from 'lossless-json';
import { InvalidInputError } from '../client/errors.js';
import type { FieldError } from '../contract/failures.js';
import { UsageError } from './exit-codes.js';

/** Far more than a payout to a hundred cards needs. */
const MAX_INPUT_BYTES = 1024 * 1024;

const AMOUNT_FIELDS = ['amount', 'amount_to'];

/** What a file held: numbers became JavaScript numbers, and each one that stood as an amount is an error. */
export interface ParsedInput {
  value: unknown;
  errors: FieldError[];
}

/** Reads a file, or standard input for `-`. The error names no path: people paste JSON where a file name belongs. */
export async function readInput(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? await buffer(stdin) : await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new UsageError(`cannot read the input file (${code}); name a JSON file, or - for standard input`);
  }
  if (bytes.length > MAX_INPUT_BYTES) throw new UsageError(`the input is longer than ${MAX_INPUT_BYTES} bytes`);
  return bytes.toString('utf8');
}

/** Parses JSON without losing a digit before it is refused. Throws UsageError when it is not JSON. */
export function parseInput(text: string): ParsedInput {
  const errors: FieldError[] = [];
  try {
    return { value: withoutNumberObjects(parse(text), '', errors), errors };
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError('the input is nested too deeply');
    // The parser's message quotes the input, which may hold a wallet: only the position is passed on.
    const position = /at position \d+/.exec(error instanceof Error ? error.message : '')?.[0] ?? '';
    throw new UsageError(`the input is not JSON ${position}`.trimEnd());
  }
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
  const entries = Object.entries(value).map(([key, child]) => [
    key,
    withoutNumberObjects(child, path === '' ? key : `${path}.${key}`, errors),
  ]);
  return Object.fromEntries(entries);
}

/** Runs a check of the input and adds the amounts that were numbers; throws InvalidInputError naming every bad field. */
export function checkWith<T>({ value, errors }: ParsedInput, check: (value: unknown) => T): T {
  try {
    const checked = check(value);
    if (errors.length === 0) return checked;
  } catch (error) {
    if (!(error instanceof InvalidInputError) || errors.length === 0) throw error;
    const others = error.fields.filter(({ field }) => errors.every((amount) => amount.field !== field));
    throw new InvalidInputError([...errors, ...others]);
  }
  throw new InvalidInputError(errors);
}
