import { hash } from 'node:crypto';
import { relative } from 'node:path';
import type { BatchFile, BatchInput } from '../contract/batch/batch.js';
import { type BatchFormat, MAX_ROWS } from '../contract/batch/files.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { apart } from '../validation/batch-input.js';
import { BATCH_FILE_ENDING } from '../validation/input-schemas.js';
import { readJson } from '../validation/json-input.js';
import { type RowContent, readCsvRow, readHeader } from './csv-rows.js';
import { type BatchBytes, badFile, linesOf, readBatchFile, textOf, unusableFile } from './read-file.js';

/** One unchecked row of a batch. */
export interface BatchRow extends RowContent {
  /** Counts from 1. */
  row: number;
  /** Line in the file from 1; for inline rows the same as `row`. */
  line: number;
  /** Original row without its line end. */
  text: string;
}

/** Rows of a batch in memory, always the same for a `sha256` (hex). */
export interface BatchSource {
  sha256: string;
  /** Last write, by the file system's clock; absent for inline rows. */
  modifiedMs?: number;
  /** Header line of a CSV file, also for the rejected rows. */
  header?: string;
  format: BatchFormat;
  /**
   * Yields the rows after the first `taken` ones. Calls `skipped` with the number of empty rows at
   * the end. Throws BatchFileError.
   */
  rows(taken?: number, skipped?: (count: number) => void): Iterable<BatchRow>;
}

/** An upload below the folder of its account; some file systems ignore the case. */
const UPLOAD = /^uploads\/([^/]+)\//i;
const OTHER_UPLOAD = 'is an upload of another account; nothing was sent. Upload the rows for this account';

/**
 * Reads the rows of a batch; with `plan`, exactly the planned bytes; with `isShown`, to show them
 * only. Throws BatchFileError, also for an upload of another account.
 */
export async function readBatchSource(
  directories: { batchDir?: string; reportDir?: string } | undefined,
  batch: { account?: string; file?: BatchFile; rows?: readonly WithdrawRequest[]; isShown?: boolean },
  plan?: { sha256: string },
): Promise<BatchSource> {
  if (batch.rows) return inlineSource(batch.rows);
  if (!batch.file) throw badFile('exactly one of file and rows is needed');
  const { path } = batch.file;
  const [, owner = batch.account ?? DEFAULT_ACCOUNT] = UPLOAD.exec(path) ?? [];
  if (owner !== (batch.account ?? DEFAULT_ACCOUNT)) throw badFile(OTHER_UPLOAD, 'file.path');
  const format = formatOf(path);
  const { batchDir, reportDir } = directories ?? {};
  if (!batchDir) throw unusableFile('this worker has no BATCH_DIR to read it from', 'file.path');
  const reports = reportDir && relative(batchDir, reportDir);
  if (reports && path.startsWith(`${reports}/`)) throw badFile(`is a report: ${OF_REPORTS}`, 'file.path');
  const { isShown } = batch;
  return fileSource(await readBatchFile(batchDir, path, plan?.sha256 ?? batch.file.sha256, { isShown }), format);
}

const OF_REPORTS =
  'nothing below REPORT_DIR is a batch file, and nothing was sent. Copy the rows that you mean to a file of their own';

function formatOf(path: string): BatchFormat {
  const [ending] = BATCH_FILE_ENDING.exec(path) ?? [];
  if (!ending) throw badFile('must end in .csv, .ndjson or .jsonl', 'file.path');
  return ending.toLowerCase() === '.csv' ? 'csv' : 'ndjson';
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

function fileSource({ bytes: whole, ...file }: BatchBytes, format: BatchFormat): BatchSource {
  const isMarked = whole.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const bytes = isMarked ? whole.subarray(BYTE_ORDER_MARK.length) : whole;
  refuseOtherFormats(bytes, format);
  const first = textOf(linesOf(bytes).next().value ?? Buffer.of());
  if (first === undefined) throw badFile(`line 1: ${NOT_UTF8}`);
  const columns = format === 'csv' ? readHeader(first) : undefined;
  const read = columns ? (text: string) => readCsvRow(columns, text) : readJsonRow;
  const rows: BatchSource['rows'] = (taken = 0, skipped) =>
    rowsOf(bytes, { headers: columns ? 1 : 0, read }, taken, skipped);
  return { ...file, format, rows, ...(columns && { header: first }) };
}

/** A blank line, or a spreadsheet's row without cells. */
const EMPTY_ROW = /^[\s,"]*$/;

const refusedRow = (reason: string): RowContent => ({ problem: [{ field: 'row', reason }] });

/** Yields the rows after `taken`. Empty rows are allowed at the end only. */
function* rowsOf(
  bytes: Buffer,
  { headers, read }: { headers: number; read: (text: string) => RowContent },
  taken: number,
  skipped?: (count: number) => void,
): Generator<BatchRow> {
  let row = -headers;
  let empty = 0;
  for (const line of linesOf(bytes)) {
    row += 1;
    if (row <= taken) continue;
    const numbersOf = (number: number) => ({ row: number, line: number + headers });
    const text = textOf(line);
    if (text !== undefined && EMPTY_ROW.test(text)) {
      empty += 1;
      continue;
    }
    if (row > MAX_ROWS) throw badFile(`has more than ${MAX_ROWS} rows; split it`);
    if (empty > 0) yield { ...numbersOf(row - empty), text: '', ...refusedRow('is empty') };
    empty = 0;
    const damage = text === undefined ? NOT_UTF8 : damageOf(text);
    yield { ...numbersOf(row), text: text ?? '', ...(damage ? refusedRow(damage) : apart(read(text ?? ''))) };
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

function inlineSource(given: readonly WithdrawRequest[]): BatchSource {
  const rows = given.map((order, index) => ({
    ...{ row: index + 1, line: index + 1, text: JSON.stringify(order) },
    ...apart({ order }),
  }));
  const sha256 = hash('sha256', rows.map(({ text }) => text).join('\n'));
  return { sha256, format: 'ndjson', rows: (taken = 0) => rows.slice(taken) };
}

/** Returns the next rows, at most `count`; fewer only at the end. */
export const nextOf = (rows: Iterator<BatchRow>, count: number): BatchRow[] =>
  Array.from({ length: count }, () => rows.next()).flatMap(({ done, value }) => (done ? [] : [value]));

export const orderInputOf = (
  { order, reference }: RowContent,
  { account, compensation, resend, whenShort, latestSend, batchId }: BatchInput,
): unknown => ({ account, order, compensation, resend, whenShort, latestSend, batchId, reference });

const SAVE_SHEET = 'in the spreadsheet program, save the sheet as "CSV UTF-8"';

/** Starts of files in other formats (Latin-1), with advice. */
const BEGINNINGS: readonly [sign: RegExp, problem: string][] = [
  [/^PK\p{Cc}\p{Cc}/u, `is an Excel workbook or another zip file: ${SAVE_SHEET}`],
  [/^\xd0\xcf\p{Cc}\xe0/u, `is an Excel workbook of the old format: ${SAVE_SHEET}`],
  [/^\p{Cc}\x8b/u, 'is compressed (gzip): unpack it'],
  [/^%PDF-/, 'is a PDF: export the rows as CSV UTF-8'],
  [
    /^(\xff\xfe|\xfe\xff|([^\0]\0){4}|(\0[^\0]){4})/,
    'is UTF-16: save it as UTF-8 (in a spreadsheet program: "CSV UTF-8")',
  ],
  [/^\s*</, 'is HTML or XML, such as a web page or a report: export the rows as CSV UTF-8'],
];

/** Signs of the wrong text format, with advice. */
const OF_FORMAT: Readonly<Record<BatchFormat, readonly [sign: RegExp, problem: string][]>> = {
  csv: [[/^\s*[[{]/, 'is JSON: write one object a line, and name the file .ndjson']],
  ndjson: [
    [/^\s*\[/, 'is a JSON array: write one object a line, without the brackets and the commas behind objects'],
    [/^\s*\{\s*[\r\n]/, 'is JSON over several lines: write one object a line'],
    [/^\s*[^{\s]/, 'is no NDJSON: write one JSON object a line; if it is CSV, name the file .csv'],
  ],
};

const NUL = '\0';
const CTRL_Z = '\x1a';

/** Bytes to inspect for the format. */
const HEAD_BYTES = 64 * 1024;

/** Refuses files that are not CSV or NDJSON in UTF-8, by their start. Throws BatchFileError. */
function refuseOtherFormats(bytes: Buffer, format: BatchFormat): void {
  const text = bytes.toString('latin1', 0, HEAD_BYTES);
  const found = [...BEGINNINGS, ...OF_FORMAT[format]].find(([sign]) => sign.test(text));
  if (found) throw badFile(found[1]);
  const [first = ''] = text.split('\n', 1);
  if (first.replace(/\r$/, '').includes('\r')) {
    throw badFile('line 1: lines end with a bare CR; save the file with LF or CRLF');
  }
  const damage = damageOf(first);
  if (damage) throw badFile(`line 1: ${damage}`);
}

/** Returns what a program left in a line besides text; undefined without any. */
function damageOf(line: string): string | undefined {
  if (line.includes(NUL)) return 'holds NUL bytes: the file was not written to its end; export it again';
  return line.endsWith(CTRL_Z) ? 'ends with the end mark of an old program (Ctrl+Z): remove the mark' : undefined;
}
