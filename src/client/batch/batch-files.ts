import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { NOT_WRITTEN } from '../../contract/batch/activities.js';
import {
  BATCH_FILE_UNUSABLE,
  type BatchFile,
  type BatchInput,
  fitsInline,
  type ReportFile,
} from '../../contract/batch/batch.js';
import {
  type BatchFormat,
  type BatchUpload,
  MAX_FILE_MIB,
  MAX_ROWS,
  PART_BYTES,
  type UploadState,
} from '../../contract/batch/files.js';
import type { FieldError } from '../../contract/failures.js';
import { sortedJson } from '../../contract/json.js';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import { rowErrors } from '../../validation/batch-input.js';
import { presentable } from '../../validation/field-errors.js';
import type { CheckOptions } from '../checked-input.js';
import { FailedError, InvalidInputError } from '../errors.js';
import { askAboutFiles } from '../service-calls.js';

/** Rows between two turns of the caller's other tasks. */
const ROWS_A_TURN = 100;
/** Number of bad fields that ends the check. */
const MANY_ERRORS = 200;

const badRows = (reason: string): InvalidInputError => new InvalidInputError([{ field: 'rows', reason }]);

/** Uploads rows beyond the inline limits. Throws InvalidInputError with the bad rows by number. */
export async function withUploadedRows(
  client: Client,
  { rows, ...others }: BatchInput,
  options?: CheckOptions,
): Promise<BatchInput> {
  const input = { ...others, ...(rows && { rows }) };
  if (!rows || fitsInline(input)) return input;
  const lines = await linesOf(input, rows, options);
  return { ...others, file: await upload(client, others.account ?? DEFAULT_ACCOUNT, Buffer.from(lines), 'ndjson') };
}

/** Returns checked rows as NDJSON, the same bytes for the same rows. */
async function linesOf(input: BatchInput, rows: readonly unknown[], { formatChecks }: CheckOptions = {}) {
  if (rows.length > MAX_ROWS) throw badRows(`are more than ${MAX_ROWS}; split them into several batches`);
  const errors: FieldError[] = [];
  const lines: string[] = [];
  for (const [index, order] of rows.entries()) {
    if (index % ROWS_A_TURN === 0) await nextTurn();
    const found = rowErrors(input, index, formatChecks);
    if (found.length === 0) lines.push(`${sortedJson(order)}\n`);
    errors.push(...found);
    if (errors.length > MANY_ERRORS) break;
  }
  if (errors.length > 0) throw new InvalidInputError(presentable(errors));
  return lines.join('');
}

/** Uploads a batch file. Parts that the workers have are not sent again. */
export async function upload(client: Client, account: string, bytes: Buffer, format: BatchFormat): Promise<BatchFile> {
  if (bytes.length === 0 || bytes.length > MAX_FILE_MIB * 1024 * 1024) {
    throw badRows(`must have 1 byte to ${MAX_FILE_MIB} MiB as a file; split them into several batches`);
  }
  const parts = Math.ceil(bytes.length / PART_BYTES);
  const about: BatchUpload = { account, sha256: hash('sha256', bytes), format, parts };
  let state = await askAboutFiles<UploadState>(client, { act: 'upload', ...about });
  for (const part of state.missing) {
    state = await uploadPart(client, about, part, bytes.subarray((part - 1) * PART_BYTES, part * PART_BYTES));
  }
  if (state.file) return state.file;
  throw new FailedError('read', account, NOT_WRITTEN, 'the parts were removed during the upload');
}

/** Sends one part, counting from 1. Returns which ones are missing, or the complete file. */
export const uploadPart = (client: Client, about: BatchUpload, part: number, bytes: Uint8Array): Promise<UploadState> =>
  askAboutFiles(client, { act: 'upload', ...about, part }, gzipSync(bytes));

/** Returns the bytes of a report, whose hash is checked. Throws FailedError if it was replaced. */
export async function readReport(client: Client, account: string, { path, sha256 }: ReportFile): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let from = 0; from % PART_BYTES === 0; ) {
    const piece = gunzipSync(await askAboutFiles<Uint8Array>(client, { act: 'report', account, path, from }));
    if (piece.length === 0) break;
    pieces.push(piece);
    from += piece.length;
  }
  const bytes = Buffer.concat(pieces);
  if (hash('sha256', bytes) === sha256) return bytes;
  throw new FailedError('read', account, BATCH_FILE_UNUSABLE, `the report ${path} was removed or replaced`);
}
