import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { unusableFile } from './errors.js';

/** The right of everybody to write. */
const OTHERS_WRITE = 0o002n;

/**
 * Refuses a file that can be written to under a name outside of BATCH_DIR, or that anybody may write to or put in place: on
 * a schedule such a file is paid without anybody asking. Throws BatchFileError.
 */
export async function refuseOtherWriters(batchDir: string, whole: string, stats: BigIntStats): Promise<void> {
  if (stats.nlink > 1n) {
    throw unusableFile('has a second name (hard link), under which it may be written to; copy it instead', 'file.path');
  }
  if (stats.mode & OTHERS_WRITE) throw openToAll('it');
  for (let folder = dirname(whole); ; folder = dirname(folder)) {
    const { mode } = await lstat(folder, { bigint: true });
    if (mode & OTHERS_WRITE)
      throw openToAll(folder === batchDir ? 'BATCH_DIR' : `folder ${relative(batchDir, folder)}`);
    if (folder.length <= batchDir.length) return;
  }
}

const openToAll = (what: string) =>
  unusableFile(`anybody on the worker's machine may write to ${what}; take that right away (chmod o-w)`, 'file.path');
