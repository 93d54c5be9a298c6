import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { unusableFile } from './errors.js';

/** The right of everybody to write. */
const OTHERS_WRITE = 0o002n;
/** In a folder with this bit, such as /tmp, nobody may replace what others own. */
const STICKY = 0o1000n;

/**
 * Refuses a file that can be written to under a name outside of BATCH_DIR, or that anybody may write to or put in place: on
 * a schedule such a file is paid without anybody asking. Throws BatchFileError.
 */
export async function refuseOtherWriters(batchDir: string, whole: string, { nlink, mode }: BigIntStats): Promise<void> {
  if (nlink > 1n) {
    throw unusableFile('has a second name (hard link), under which it may be written to; copy it instead', 'file.path');
  }
  if (mode & OTHERS_WRITE) throw openToAll('it');
  for (const folder of foldersOf(whole)) {
    const rights = (await lstat(folder, { bigint: true })).mode;
    // Above BATCH_DIR a new file does no harm: only what is there must not be replaced.
    const isSafe = folder.length < batchDir.length && rights & STICKY;
    if (rights & OTHERS_WRITE && !isSafe) throw openToAll(nameOf(batchDir, folder));
  }
}

/** The folders that a path leads through, the innermost first. */
function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersOf(folder)];
}

function nameOf(batchDir: string, folder: string): string {
  if (folder.length < batchDir.length) return 'a folder above BATCH_DIR';
  return folder === batchDir ? 'BATCH_DIR' : `folder ${relative(batchDir, folder)}`;
}

const openToAll = (what: string) =>
  unusableFile(`anybody on the worker's machine may write to ${what}; take that right away (chmod o-w)`, 'file.path');
