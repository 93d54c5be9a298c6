import { hash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BATCH_FILE_UNUSABLE } from '../contract/batch/batch.js';
import { type BatchUpload, MAX_FILE_MIB, type UploadState } from '../contract/batch/files.js';
import { INVALID_INPUT, NotWrittenError, systemCodeOf } from '../contract/failures.js';
import { BatchFileError, badFile, hasHash, readBatchFile, recordHash, refuseLinks } from './read-file.js';

/** Only the worker's user may read uploads: they name payees. */
const MODE = { folder: 0o700, file: 0o600 };

/**
 * Stores a given part of an upload below `batchDir`, and joins all parts once none is missing.
 * Throws BatchFileError and NotWrittenError.
 */
export async function storePart(
  batchDir: string,
  upload: BatchUpload,
  given?: { part: number; bytes: Buffer },
): Promise<UploadState> {
  try {
    return await store(batchDir, upload, given);
  } catch (error) {
    if (error instanceof BatchFileError && error.failureType === INVALID_INPUT) throw error;
    const code = systemCodeOf(error);
    // Another upload of the same file has just joined its parts: the next attempt finds the file.
    if (error instanceof BatchFileError || code === 'ENOENT' || code === 'ENOTEMPTY')
      throw new Error('the parts were joined or removed');
    throw new NotWrittenError('the upload', 'BATCH_DIR', code);
  }
}

async function store(
  batchDir: string,
  { account, sha256, format, parts }: BatchUpload,
  given?: { part: number; bytes: Buffer },
): Promise<UploadState> {
  const file = { path: `uploads/${account}/${sha256}.${format}`, sha256 };
  const levels = ['uploads', `uploads/${account}`, `uploads/${account}/${sha256}`].map((path) => join(batchDir, path));
  const folder = levels.at(-1) ?? '';
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  if (await isThere(batchDir, file)) return remove().then(() => ({ missing: [], file }));
  for (const level of levels) {
    await mkdir(level, { recursive: true, mode: MODE.folder });
    await refuseLinks(level);
  }
  // Parts of another size must not be mixed with these.
  const names = Array.from({ length: parts }, (_, index) => `${index + 1}-of-${parts}.part`);
  if (given) {
    await requireRoom(dirname(folder), given.bytes.length);
    await write(folder, join(folder, names[given.part - 1] ?? ''), given.bytes);
  }
  const present = new Set(await readdir(folder));
  const missing = names.flatMap((name, index) => (present.has(name) ? [] : [index + 1]));
  if (missing.length > 0) {
    if (!given || !(await isThere(batchDir, file))) return { missing };
    // Another upload of the same file joined its parts before this one came.
    return remove().then(() => ({ missing: [], file }));
  }
  const all = await Promise.all(names.map((name) => readBatchFile(folder, name)));
  const bytes = Buffer.concat(all.map((part) => part.bytes));
  if (hash('sha256', bytes) !== sha256) {
    await remove();
    throw badFile(
      'the parts have another hash than the one given; they were removed: send all of them again',
      'sha256',
    );
  }
  const target = join(batchDir, file.path);
  await write(folder, target, bytes);
  recordHash(await stat(target, { bigint: true }), sha256);
  await remove();
  return { missing: [], file };
}

/** Time after which an upload that nobody finished is removed. */
const UNFINISHED_FOR_MS = 86_400_000;

/** Maximum bytes of an account's unfinished uploads: four of the largest files. */
const MAX_UNFINISHED_BYTES = 4 * MAX_FILE_MIB * 1024 * 1024;

/** Part of the disk that uploads leave to the audit record, the state of batches and reports. */
const LEAST_FREE = 0.1;

/** Throws an error with a `code` if uploads of the account in `folder` may take no more room. */
async function requireRoom(folder: string, bytes: number): Promise<void> {
  let unfinished = bytes;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > UNFINISHED_FOR_MS) await rm(path, { recursive: true, force: true });
    else for (const part of await readdir(path)) unfinished += (await stat(join(path, part))).size;
  }
  if (unfinished > MAX_UNFINISHED_BYTES) throw Object.assign(new Error(), { code: 'EDQUOT' });
  const { bavail, blocks } = await statfs(folder);
  if (bavail < LEAST_FREE * blocks) throw Object.assign(new Error(), { code: 'ENOSPC' });
}

/** Returns true if the file is complete. A damaged one is replaced. */
async function isThere(batchDir: string, { path, sha256 }: { path: string; sha256: string }): Promise<boolean> {
  try {
    return await hasHash(batchDir, path, sha256);
  } catch (error) {
    if (error instanceof BatchFileError && error.failureType === BATCH_FILE_UNUSABLE) return false;
    throw error;
  }
}

/** Writes a file under a temporary name in `folder`, so that readers only see complete ones. */
async function write(folder: string, target: string, bytes: Buffer): Promise<void> {
  const temporary = join(folder, `.${randomUUID()}.tmp`);
  await writeFile(temporary, bytes, { flag: 'wx', mode: MODE.file, flush: true });
  await rename(temporary, target);
  // Without this, a power loss may undo the rename.
  const handle = await open(dirname(target));
  await handle.sync().finally(() => handle.close());
}
