import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { BatchStart } from '../client/batch/batches.js';
import { type CheckOptions, checkBatchInput, checkWith, type ParsedInput } from '../client/checked-input.js';
import { readJson } from '../validation/json-input.js';
import { type BatchOptions, batchOptionsOf, given } from './arguments.js';
import { type StarterIo, UsageError } from './report.js';

/** Maximum size of an input, far above a payout to a hundred cards. */
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * Reads a file, or standard input for `-`. Errors contain no path, because users paste JSON there.
 */
export async function readInput(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? await buffer(stdin) : await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new UsageError(`cannot read the input file (${code}); name a JSON file, or - for standard input`);
  }
  if (bytes.length > MAX_INPUT_BYTES) throw new UsageError(`the input is longer than ${MAX_INPUT_BYTES} bytes`);
  try {
    // Some editors start files with a byte order mark, which is not decoded.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('the input is not UTF-8: save it as UTF-8');
  }
}

/** Parses JSON without losing digits. Throws UsageError if it is not JSON. */
export function parseInput(text: string): ParsedInput {
  const { problem, ...parsed } = readJson(text);
  if (problem) throw new UsageError(`the input ${problem}`);
  return parsed;
}

/** Options that identify a batch's rows, besides those of schedules. */
export interface BatchStartOptions extends BatchOptions, CheckOptions {
  id?: string;
  again?: true;
  latestSend?: string;
}

/**
 * Returns a batch's input: a file of the workers, or JSON rows from standard input (`-`). Throws
 * UsageError and InvalidInputError.
 */
export async function readBatchInput(io: StarterIo, path: string, options: BatchStartOptions): Promise<BatchStart> {
  const { account, id, again, latestSend } = options;
  const common = { ...batchOptionsOf(options), ...given({ account, batchId: id, again, latestSend }) };
  if (path !== '-') return checkBatchInput({ ...common, file: { path } });
  const { value, errors } = parseInput(await readInput(path, io.stdin));
  const parsed = { value, errors: errors.map(({ field, reason }) => ({ field: `rows${field}`, reason })) };
  return checkWith(parsed, (rows) => checkBatchInput({ ...common, rows }, options));
}
