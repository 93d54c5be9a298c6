import { createHash, hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { badFile, unusableFile } from './errors.js';
import { refuseOtherWriters } from './other-writers.js';

/** Largest batch file in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

const BLOCK_BYTES = 64 * 1024;
/** Contents kept; a worker has few batches at a time. */
const MAX_KNOWN_CONTENTS = 100;

/** Hashes of one and the same bytes: of all of them (hex), and of each block in turn. */
interface Content {
  sha256: string;
  blocks: readonly string[];
}

/**
 * Contents by identity of their files, so that a batch that reads on every few seconds hashes its file once. They vouch for
 * no byte: what is written through a shared mapping changes no time of a file.
 */
const knownContents = new Map<string, Content>();

/** A batch file held open. What it reads are the very bytes that `sha256` was taken from, or it throws. */
export class PinnedFile {
  private constructor(
    private readonly handle: FileHandle,
    private readonly identity: string,
    private readonly content: Content,
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
      await refuseOtherWriters(batchDir, whole, stats);
      const content = await contentOf(handle, stats, sha256);
      if (sha256 !== undefined && sha256 !== content.sha256) {
        throw unusableFile('its content is not what it was: another hash than the one given', 'file.sha256');
      }
      return new PinnedFile(handle, identityOf(stats), content, Number(stats.mtimeMs));
    } catch (error) {
      await handle.close();
      return explain(error);
    }
  }

  get sha256(): string {
    return this.content.sha256;
  }

  /** The next bytes from `position` on, empty at the end. Throws BatchFileError where they are not those of `sha256`. */
  async read(position: number): Promise<Buffer> {
    const index = Math.floor(position / BLOCK_BYTES);
    const block = await readBlock(this.handle, index, Buffer.allocUnsafe(BLOCK_BYTES));
    // A file that was cut off, replaced or written to is given up, though this block may be what it was.
    if (identityOf(await this.handle.stat({ bigint: true })) !== this.identity) throw changed();
    if (hashOf(block) !== (this.content.blocks[index] ?? OF_NOTHING)) throw changed();
    return block.subarray(position - index * BLOCK_BYTES);
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

/** Changes with most writes to the file, though not with those through a shared mapping; ctime also with one that sets mtime back. */
const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** The content that a file was given for, where its times say that it may be unchanged; else what one pass finds. */
async function contentOf(handle: FileHandle, stats: BigIntStats, sha256?: string): Promise<Content> {
  const identity = identityOf(stats);
  const known = knownContents.get(identity);
  if (known && known.sha256 === sha256) return known;
  const content = await hashContent(handle, Number(stats.size));
  if (identityOf(await handle.stat({ bigint: true })) !== identity) throw changed();
  remember(identity, content);
  return content;
}

/** Every block is read once, for both hashes: two passes could see different bytes. */
async function hashContent(handle: FileHandle, size: number): Promise<Content> {
  const whole = createHash('sha256');
  const blocks: string[] = [];
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let left = size; left > 0; left -= BLOCK_BYTES) {
    const block = await readBlock(handle, blocks.length, buffer);
    if (block.length !== Math.min(BLOCK_BYTES, left)) throw changed();
    whole.update(block);
    blocks.push(hashOf(block));
  }
  return { sha256: whole.digest('hex'), blocks };
}

const hashOf = (block: Buffer): string => hash('sha256', block, 'base64');

/** What stands behind the last block. */
const OF_NOTHING = hashOf(Buffer.alloc(0));

/** Copies a block into `buffer`, where no writer of the file changes it; shorter at the end of the file. */
async function readBlock(handle: FileHandle, index: number, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  // Network file systems may answer with less than was asked for.
  while (length < BLOCK_BYTES) {
    const { bytesRead } = await handle.read(buffer, length, BLOCK_BYTES - length, index * BLOCK_BYTES + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function remember(identity: string, content: Content): void {
  const [oldest] = knownContents.keys();
  if (knownContents.size >= MAX_KNOWN_CONTENTS && oldest !== undefined) knownContents.delete(oldest);
  knownContents.set(identity, content);
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
