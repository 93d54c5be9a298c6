import type { BatchStart } from '../client/batches.js';
import { InvalidInputError } from '../client/errors.js';
import type { BatchInput } from '../contract/batch/input.js';
import { validateBatchInput } from '../validation/batch-schema.js';
import type { FormatChecks } from '../validation/format-checks.js';
import { type BatchOptions, batchOptionsOf } from './batch-arguments.js';
import { UsageError } from './exit-codes.js';
import { checkWith, type ParsedInput, parseInput, readInput } from './input-file.js';
import { checkUnlessWarned } from './own-rules.js';
import type { StarterIo } from './report.js';

/** What names a batch's rows and how it is started, beside the options it shares with schedules. */
export interface StartOptions extends BatchOptions {
  id?: string;
  again?: true;
  inline?: true;
  latestSend?: string;
}

const inRows = ({ value, errors }: ParsedInput, row = ''): ParsedInput => ({
  value,
  errors: errors.map(({ field, reason }) => ({ field: `rows${row}${row && '.'}${field}`, reason })),
});

/** Rows as a JSON array, or as one JSON object a line. Throws UsageError, which quotes nothing of them. */
export function parseRows(text: string): ParsedInput {
  if (text.trimStart().startsWith('[')) return inRows(parseInput(text));
  const rows = text
    .split(/\r?\n/)
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }, index) => inRows(parseLine(line, number), `[${index}]`));
  return { value: rows.map(({ value }) => value), errors: rows.flatMap(({ errors }) => errors) };
}

function parseLine(line: string, number: number): ParsedInput {
  try {
    return parseInput(line);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`line ${number}: ${error.message}; rows are a JSON array or one JSON object a line`);
  }
}

function checked(input: unknown, formatChecks: FormatChecks): BatchInput {
  const result = validateBatchInput(input, formatChecks);
  if ('errors' in result) throw new InvalidInputError(result.errors);
  return result.input;
}

/**
 * The input of a batch. `path` is a file of the workers; with `--inline`, or `-` for standard input, the rows are read
 * here and travel in the input. Throws UsageError or InvalidInputError; nothing is started yet.
 */
export async function readBatchInput(io: StarterIo, path: string, options: StartOptions): Promise<BatchStart> {
  const { account, id, again, inline, latestSend } = options;
  const common = {
    ...batchOptionsOf(options),
    ...(account !== undefined && { account }),
    ...(id !== undefined && { batchId: id }),
    ...(again && { again }),
    ...(latestSend !== undefined && { latestSend }),
  };
  if (path !== '-' && !inline) return checked({ ...common, file: { path } }, 'refuse');
  const parsed = parseRows(await readInput(path, io.stdin));
  return checkUnlessWarned(io, (formatChecks) =>
    checkWith(parsed, (rows) => checked({ ...common, rows }, formatChecks)),
  );
}
