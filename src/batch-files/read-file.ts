import { hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, open, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { BATCH_FILE_UNUSABLE } from '../contract/batch/batch.js';
import { MAX_FILE_MIB } from '../contract/batch/files.js';
import { type FieldError, INVALID_INPUT } from '../contract/failures.js';

/** Error of an unusable batch file; nothing was sent. `problem` quotes no cell. */
export class BatchFileError extends Error {
  override readonly name = 'BatchFileError';

  constructor(
    readonly failureType: typeof INVALID_INPUT | typeof BATCH_FILE_UNUSABLE,
    readonly field: FieldError['field'],
    readonly problem: string,
  ) {
    super(`${field}: ${problem}`);
  }
}

/** Returns the error of a file that stays bad (InvalidInput). */
export const badFile = (problem: string, field = 'file'): BatchFileError =>
  new BatchFileError(INVALID_INPUT, field, problem);

/** Returns the error of a file that is missing or another one (BatchFileUnusable). */
export const unusableFile = (problem: string, field = 'file'): BatchFileError =>
  new BatchFileError(BATCH_FILE_UNUSABLE, field, problem);

const MAX_FILE_BYTES = MAX_FILE_MIB * 1024 * 1024;
/** Maximum line in bytes, several times a payout to a hundred cards. */
const MAX_LINE_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Batch file in memory. `sha256` (hex) is the hash of `bytes`, so later changes do not matter. */
export interface BatchBytes {
  bytes: Buffer;
  sha256: string;
  /** Last write, by the file system's clock. */
  modifiedMs: number;
}

/** Hashes of files that this process read or wrote, by their versions. */
const hashes = new Map<string, string>();
const MOST_HASHES = 10_000;

/** Returns a text that a change of a file changes, unless it is made through a shared mapping. */
const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join();

/** Records the hash of a file's bytes, for whoever only shows them. */
export function recordHash(stats: BigIntStats, sha256: string): void {
  if (hashes.size >= MOST_HASHES) hashes.clear();
  hashes.set(versionOf(stats), sha256);
}

/**
 * Reads a regular file below `batchDir` without following links; throws BatchFileError. With
 * `isShown`, a process hashes an unchanged file once: nothing may be sent by it.
 */
export async function readBatchFile(
  batchDir: string,
  path: string,
  sha256?: string,
  { isShown = false } = {},
): Promise<BatchBytes> {
  const file = await withPlainFile(batchDir, path, (handle, stats) =>
    readWhole(handle, stats, isShown ? hashes.get(versionOf(stats)) : undefined),
  );
  if (sha256 !== undefined && sha256 !== file.sha256) {
    throw unusableFile('its content was changed: it has another hash than the one given', 'file.sha256');
  }
  return file;
}

/** Returns true if a file has this hash; an unchanged one is read once in each process. */
export const hasHash = (batchDir: string, path: string, sha256: string): Promise<boolean> =>
  withPlainFile(batchDir, path, async (handle, stats) => {
    const found = hashes.get(versionOf(stats)) ?? (await readWhole(handle, stats)).sha256;
    return found === sha256;
  });

/** Refuses paths that could leave the folder. Normalises nothing: one file needs one spelling. */
function relativePath(path: string): string {
  const plain = path !== '' && !path.includes('\0') && !posix.isAbsolute(path) && posix.normalize(path) === path;
  if (!plain || path.split('/').includes('..') || path.endsWith('/')) {
    throw badFile('must be a plain path below BATCH_DIR, such as "2026/payroll.csv"', 'file.path');
  }
  return path;
}

/** Opens a regular file below `folder` without following links, for `read`. Throws BatchFileError. */
export async function withPlainFile<T>(
  folder: string,
  path: string,
  read: (handle: FileHandle, stats: BigIntStats) => Promise<T>,
  variable = 'BATCH_DIR',
): Promise<T> {
  const explain = explainFor(variable);
  const whole = join(folder, relativePath(path));
  // O_NONBLOCK: opening a named pipe would wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(whole, flags).catch(explain);
  try {
    await refuseLinks(whole).catch(explain);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw badFile('is no regular file', 'file.path');
    return await read(handle, stats).catch(explain);
  } finally {
    await handle.close();
  }
}

/** Throws BatchFileError for a path that leads through a symbolic link. */
export async function refuseLinks(path: string): Promise<void> {
  if ((await realpath(path)) !== path) throw badFile('leads through a symbolic link', 'file.path');
}

async function readWhole(handle: FileHandle, stats: BigIntStats, known?: string): Promise<BatchBytes> {
  if (stats.size > MAX_FILE_BYTES) throw badFile(`the file is larger than ${MAX_FILE_MIB} MiB; split it`);
  const bytes = await handle.readFile();
  if (bytes.length === 0) throw badFile('the file is empty');
  const sha256 = known ?? hash('sha256', bytes);
  recordHash(stats, sha256);
  return { bytes, sha256, modifiedMs: Number(stats.mtimeNs) / 1e6 };
}

/** Throws the batch file's error for a file system error. Other errors may be retried. */
const explainFor =
  (variable: string) =>
  (error: unknown): never => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw unusableFile(`there is no such file below ${variable}`, 'file.path');
    if (code === 'ELOOP') throw badFile('leads through a symbolic link', 'file.path');
    if (code === 'ENXIO') throw badFile('is no regular file', 'file.path');
    if (code === 'ENAMETOOLONG') throw badFile('is too long', 'file.path');
    if (code === 'EACCES' || code === 'EPERM') throw unusableFile('the worker may not read it', 'file.path');
    throw error;
  };

/** Yields lines without LF or CRLF. Throws BatchFileError for a too long line. */
export function* linesOf(bytes: Buffer): Generator<Buffer, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const line = bytes.subarray(start, feed < 0 ? bytes.length : feed);
    if (line.length > MAX_LINE_BYTES) throw badFile(`a line is longer than ${MAX_LINE_BYTES} bytes`);
    yield line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    start += line.length + 1;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text of a line; undefined if it is not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
