import { createHash } from 'node:crypto';
import type { BatchFile, BatchInput } from '../contract/batch/batch.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { BATCH_FILE_ENDING } from '../validation/batch-input.js';
import { readJson } from '../validation/json-input.js';
import { type RowContent, readCsvRow, readHeader } from './csv-rows.js';
import { badFile, unusableFile } from './errors.js';
import { damageOf, refuseOtherFormats } from './other-formats.js';
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
  /**
   * Rows from `offset` on (0 = the first), where `taken` rows lie before it. Calls `skipped` with the number of empty rows
   * at the end. Throws BatchFileError.
   */
  rows(offset?: number, taken?: number, skipped?: (count: number) => void): AsyncIterable<BatchRow>;
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
  const [ending] = BATCH_FILE_ENDING.exec(path) ?? [];
  if (!ending) throw badFile('must end in .csv, .ndjson or .jsonl', 'file.path');
  return ending.toLowerCase() === '.csv' ? 'csv' : 'ndjson';
}

async function fileSource(file: PinnedFile, format: 'csv' | 'ndjson'): Promise<BatchSource> {
  refuseOtherFormats(await file.read(0), format);
  const first = await firstLine(file);
  const { sha256, modifiedMs } = file;
  const common = { sha256, modifiedMs, format, close: () => file.close() };
  if (format === 'ndjson') {
    const { begin } = first;
    return {
      ...common,
      rows: (offset = 0, taken = 0, skipped) =>
        rowsOf({ file, start: offset || begin, taken, firstLineNumber: 1, read: readJsonRow, skipped }),
    };
  }
  const columns = readHeader(first.text);
  const read = (text: string) => readCsvRow(columns, text);
  return {
    ...common,
    header: first.text,
    rows: (offset = 0, taken = 0, skipped) =>
      rowsOf({ file, start: offset || first.nextOffset, taken, firstLineNumber: 2, read, skipped }),
  };
}

const BOM = '\uFEFF';

/** The first line without a byte order mark; `begin` is where it starts behind that. */
async function firstLine(file: PinnedFile): Promise<{ text: string; begin: number; nextOffset: number }> {
  for await (const { bytes, nextOffset } of readLines(file, 0)) {
    const text = textOf(bytes);
    if (text === undefined) throw badFile(`line 1: ${NOT_UTF8}`);
    const marked = text.startsWith(BOM);
    return { text: marked ? text.slice(1) : text, begin: marked ? Buffer.byteLength(BOM) : 0, nextOffset };
  }
  throw badFile('the file is empty');
}

interface Reading {
  file: PinnedFile;
  start: number;
  /** Rows before `start`. */
  taken: number;
  /** Line of the file's first row. */
  firstLineNumber: number;
  read: (text: string) => RowContent;
  skipped?: (count: number) => void;
}

/** What a spreadsheet writes for a row that has no cell, and a blank line. */
const EMPTY_ROW = /^[\s,"]*$/;

const refusedRow = (reason: string): RowContent => ({ problem: [{ field: 'row', reason }] });

/** Reads rows from `start`. Empty rows may stand at the end only. */
async function* rowsOf({ file, start, taken, firstLineNumber, read, skipped }: Reading): AsyncGenerator<BatchRow> {
  let row = taken;
  let empty = 0;
  for await (const { bytes, nextOffset } of readLines(file, start)) {
    row += 1;
    const numbersOf = (number: number) => ({ row: number, line: number - 1 + firstLineNumber, nextOffset });
    const text = textOf(bytes);
    if (text !== undefined && EMPTY_ROW.test(text)) {
      empty += 1;
      continue;
    }
    if (row > MAX_ROWS) throw badFile(`has more than ${MAX_ROWS} rows; split it`);
    if (empty > 0) yield { ...numbersOf(row - empty), text: '', ...refusedRow('is empty') };
    empty = 0;
    const damage = text === undefined ? NOT_UTF8 : damageOf(text);
    yield { ...numbersOf(row), text: text ?? '', ...(damage ? refusedRow(damage) : read(text ?? '')) };
  }
  if (row - empty === 0) throw badFile('the file has no rows');
  if (empty > 0) skipped?.(empty);
}

const NOT_UTF8 =
  'is not UTF-8, perhaps an encoding of Windows: save the file as UTF-8 (in a spreadsheet program: "CSV UTF-8")';

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
