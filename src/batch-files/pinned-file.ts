import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { badFile, unusableFile } from './errors.js';

/** Largest batch file in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;
/** Hashes kept; a worker has few batches at a time. */
const MAX_KNOWN_HASHES = 100;
/** Clocks of file systems tick coarsely: of a file changed just now a second change might not show. */
const SETTLED_AFTER_MS = 2_000;

/** Hash by identity of the bytes, so that a batch that reads on every few seconds hashes its file once. */
const knownHashes = new Map<string, string>();

/** A batch file held open. What it reads are the very bytes that `sha256` was taken from, or it throws. */
export class PinnedFile {
  private constructor(
    private readonly handle: FileHandle,
    private readonly identity: string,
    readonly sha256: string,
    /** When its bytes were last written, by the clock of its file system. */
    readonly modifiedMs: number,
  ) {}

  /** Opens a regular file below `batchDir` (a real path) without following any link. Throws BatchFileError. */
  static async open(batchDir: string, path: string, sha256?: string): Promise<PinnedFile> {
    const whole = join(batchDir, relativePath(path));
    // O_NONBLOCK: opening a named pipe would otherwise wait for its writer.
    const handle = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(explain);
    try {
      const stats = await handle.stat({ bigint: true });
      await refuseLinks(whole, stats);
      refuseUnreadable(stats);
      const hash = await hashOf(handle, stats);
      if (sha256 !== undefined && sha256 !== hash) {
        throw unusableFile('its content is not what it was: another hash than the one given', 'file.sha256');
      }
      return new PinnedFile(handle, identityOf(stats), hash, Number(stats.mtimeMs));
    } catch (error) {
      await handle.close();
      return explain(error);
    }
  }

  /** The next bytes from `position` on, empty at the end. Throws BatchFileError once the file was written to. */
  async read(position: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    // After the read: what was read before a change is good, what was read after it is not.
    if (identityOf(await this.handle.stat({ bigint: true })) !== this.identity) throw changed();
    return buffer.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

const changed = () => unusableFile('it was changed while it was read; nothing of it was sent after that');

/** Refuses whatever could lead out of the folder. Nothing is normalised: two spellings of one file are no use to anybody. */
function relativePath(path: string): string {
  const plain = path !== '' && !path.includes('\0') && !posix.isAbsolute(path) && posix.normalize(path) === path;
  if (!plain || path.split('/').includes('..') || path.endsWith('/')) {
    throw badFile('must be a plain path below BATCH_DIR, such as "2026/payroll.csv"', 'file.path');
  }
  return path;
}

async function refuseLinks(whole: string, opened: BigIntStats): Promise<void> {
  if ((await realpath(whole)) !== whole) throw badFile('leads through a symbolic link', 'file.path');
  const now = await lstat(whole, { bigint: true });
  // A folder on the way may have been swapped between the open and the look at the path.
  if (now.ino !== opened.ino || now.dev !== opened.dev) throw changed();
}

function refuseUnreadable(stats: BigIntStats): void {
  if (!stats.isFile()) throw badFile('is no regular file', 'file.path');
  if (stats.size === 0n) throw badFile('the file is empty');
  if (stats.size > MAX_FILE_BYTES) throw badFile(`the file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
}

/** Changes with every write to the file; ctime also with one that sets mtime back. */
const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

async function hashOf(handle: FileHandle, stats: BigIntStats): Promise<string> {
  const identity = identityOf(stats);
  const known = knownHashes.get(identity);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for await (const bytes of handle.createReadStream({ start: 0, autoClose: false })) hash.update(bytes);
  if (identityOf(await handle.stat({ bigint: true })) !== identity) throw changed();
  const sha256 = hash.digest('hex');
  if (Date.now() - Number(stats.ctimeMs) > SETTLED_AFTER_MS) remember(identity, sha256);
  return sha256;
}

function remember(identity: string, sha256: string): void {
  const [oldest] = knownHashes.keys();
  if (knownHashes.size >= MAX_KNOWN_HASHES && oldest !== undefined) knownHashes.delete(oldest);
  knownHashes.set(identity, sha256);
}

/** The batch file's error for one of the file system. Others, such as a failing disk, stay as they are and may be retried. */
function explain(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') throw unusableFile('there is no such file below BATCH_DIR', 'file.path');
  if (code === 'ELOOP') throw badFile('leads through a symbolic link', 'file.path');
  if (code === 'ENXIO') throw badFile('is no regular file', 'file.path');
  if (code === 'ENAMETOOLONG') throw badFile('is too long', 'file.path');
  if (code === 'EACCES' || code === 'EPERM') throw unusableFile('the worker may not read it', 'file.path');
  throw error;
}

/** Longest line in bytes: several times what a payout to a hundred cards needs. */
const MAX_LINE_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** One line without its end, and where the next one begins. */
export interface Line {
  bytes: Buffer;
  nextOffset: number;
}

/** The lines of a file from a byte offset on; LF and CRLF end one. Holds one chunk at a time. */
export async function* readLines(file: PinnedFile, offset: number): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let restAt = offset;
  for (;;) {
    const chunk = await file.read(restAt + rest.length);
    if (chunk.length === 0) break;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const nextOffset = restAt + end + 1;
      yield { bytes: withoutCarriageReturn(bytes.subarray(start, end)), nextOffset };
      start = end + 1;
    }
    rest = bytes.subarray(start);
    restAt += start;
    if (rest.length > MAX_LINE_BYTES) throw badFile(`a line is longer than ${MAX_LINE_BYTES} bytes`);
  }
  if (rest.length > 0) yield { bytes: withoutCarriageReturn(rest), nextOffset: restAt + rest.length };
}

const withoutCarriageReturn = (bytes: Buffer): Buffer =>
  bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a line; undefined when it is not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
