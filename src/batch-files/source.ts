import { createHash } from 'node:crypto';
import type { BatchFile, BatchInput } from '../contract/batch/batch.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { readJson } from '../validation/json-input.js';
import { type RowContent, readCsvRow, readHeader } from './csv-rows.js';
import { badFile, unusableFile } from './errors.js';
import { PinnedFile, readLines, textOf } from './pinned-file.js';

/** Most rows of one batch. */
const MAX_ROWS = 100_000;

/** One row of a batch, unchecked. */
export interface BatchRow extends RowContent {
  /** Counts from 1 over the whole batch. */
  row: number;
  /** Line in the file, counting from 1; of inline rows the same as `row`. */
  line: number;
  /** Where the row after this one begins: hand it back to `rows` to go on there. */
  nextOffset: number;
  /** The row as it stood there, without its line end. */
  text: string;
}

/** The rows of a batch: always the same ones under the same `sha256` (hex). Close it. */
export interface BatchSource {
  sha256: string;
  /** When the file was last written to, by the clock of its file system; absent for inline rows. */
  modifiedMs?: number;
  /** The header line of a CSV file; the rejected rows are written under it. */
  header?: string;
  format: 'csv' | 'ndjson';
  /** Rows from `offset` on (0 = the first), where `taken` rows lie before it. Throws BatchFileError. */
  rows(offset?: number, taken?: number): AsyncIterable<BatchRow>;
  close(): Promise<void>;
}

/**
 * Opens the rows of a batch, by reference or inline. `plan`: exactly the bytes that were planned, because a batch or a
 * report of another file would be worse than none. Throws BatchFileError.
 */
export async function openBatchSource(
  directories: { batchDir?: string } | undefined,
  batch: { file?: BatchFile; rows?: readonly WithdrawRequest[] },
  plan?: { sha256: string },
): Promise<BatchSource> {
  if (batch.rows) return inlineSource(batch.rows);
  if (!batch.file) throw badFile('exactly one of file and rows is needed');
  const { path } = batch.file;
  const sha256 = plan?.sha256 ?? batch.file.sha256;
  const format = formatOf(path);
  if (!directories?.batchDir) throw unusableFile('this worker has no BATCH_DIR to read it from', 'file.path');
  const file = await PinnedFile.open(directories.batchDir, path, sha256);
  try {
    return await fileSource(file, format);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function formatOf(path: string): 'csv' | 'ndjson' {
  if (path.endsWith('.csv')) return 'csv';
  if (path.endsWith('.ndjson') || path.endsWith('.jsonl')) return 'ndjson';
  throw badFile('must end in .csv, .ndjson or .jsonl', 'file.path');
}

async function fileSource(file: PinnedFile, format: 'csv' | 'ndjson'): Promise<BatchSource> {
  const first = await firstLine(file);
  const { sha256, modifiedMs } = file;
  const common = { sha256, modifiedMs, format, close: () => file.close() };
  if (format === 'ndjson') {
    return { ...common, rows: (offset = 0, taken = 0) => rowsOf(file, offset || first.begin, taken, 1, readJsonRow) };
  }
  const columns = readHeader(first.text);
  const read = (text: string) => readCsvRow(columns, text);
  return {
    ...common,
    header: first.text,
    rows: (offset = 0, taken = 0) => rowsOf(file, offset || first.nextOffset, taken, 2, read),
  };
}

const BOM = '\uFEFF';

/** The first line without a byte order mark; `begin` is where it starts behind that. */
async function firstLine(file: PinnedFile): Promise<{ text: string; begin: number; nextOffset: number }> {
  for await (const { bytes, nextOffset } of readLines(file, 0)) {
    const text = textOf(bytes);
    if (text === undefined) throw badFile('line 1: is not UTF-8; save the file as UTF-8');
    const marked = text.startsWith(BOM);
    return { text: marked ? text.slice(1) : text, begin: marked ? Buffer.byteLength(BOM) : 0, nextOffset };
  }
  throw badFile('the file is empty');
}

/** Reads rows from `start`; the file's first row is line `firstLineNumber`. Empty lines may stand at the end only. */
async function* rowsOf(
  file: PinnedFile,
  start: number,
  taken: number,
  firstLineNumber: number,
  read: (text: string) => RowContent,
): AsyncGenerator<BatchRow> {
  let row = taken;
  let empty = 0;
  for await (const { bytes, nextOffset } of readLines(file, start)) {
    row += 1;
    if (row > MAX_ROWS) throw badFile(`has more than ${MAX_ROWS} rows; split it`);
    const numbersOf = (number: number) => ({ row: number, line: number - 1 + firstLineNumber, nextOffset });
    if (bytes.length === 0) {
      empty += 1;
      continue;
    }
    if (empty > 0) yield { ...numbersOf(row - empty), text: '', problem: [{ field: 'row', reason: 'is empty' }] };
    empty = 0;
    const text = textOf(bytes);
    const content = text === undefined ? NOT_UTF8 : read(text);
    yield { ...numbersOf(row), text: text ?? '', ...content };
  }
  if (row - empty === 0) throw badFile('the file has no rows');
}

const NOT_UTF8: RowContent = { problem: [{ field: 'row', reason: 'is not UTF-8' }] };

function readJsonRow(text: string): RowContent {
  const { value, errors, problem } = readJson(text, 'order');
  if (problem) return { problem: [{ field: 'order', reason: problem }] };
  if (errors.length > 0) return { order: value, problem: errors };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { order: value };
  return { problem: [{ field: 'row', reason: 'must be one JSON object' }] };
}

/** Inline rows; an offset is the number of rows before it. */
function inlineSource(given: readonly WithdrawRequest[]): BatchSource {
  const texts = given.map((row) => JSON.stringify(row));
  async function* rows(offset = 0): AsyncGenerator<BatchRow> {
    for (const [index, order] of given.entries()) {
      if (index < offset) continue;
      yield { row: index + 1, line: index + 1, nextOffset: index + 1, text: texts[index] ?? '', order };
    }
  }
  return {
    sha256: createHash('sha256').update(texts.join('\n')).digest('hex'),
    format: 'ndjson',
    rows,
    close: async () => {},
  };
}

/** The input of the withdraw workflow that a row stands for; unchecked, as the row is. */
export function orderInputOf(row: Pick<BatchRow, 'order'>, batch: BatchInput): unknown {
  const { account, compensation, resend, batchId } = batch;
  return {
    ...(account !== undefined && { account }),
    order: row.order,
    ...(compensation !== undefined && { compensation }),
    ...(resend !== undefined && { resend }),
    ...(batchId !== undefined && { batchId }),
  };
}
