import { mkdirSync, mkdtempSync, realpathSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from './env.js';
import { refuseOpenFolder } from './secret-files.js';
import type { Settings } from './settings.js';

/** Real paths (symbolic links resolved) of the folders that workers share. */
export interface Directories {
  /** Batch files; absent = batches come inline only. */
  batchDir?: string;
  /** Reports of batches and reconciliations; absent = none are written. */
  reportDir?: string;
}

/** The real path of a folder, made if it is not there where `create` says so; undefined when it cannot be used. */
export function folder(
  path: string,
  name: string,
  problems: Problems,
  { create }: { create: boolean },
): string | undefined {
  try {
    if (create) mkdirSync(path, { recursive: true, mode: 0o700 });
    const stats = statSync(path);
    if (stats.isDirectory()) {
      if (create) probe(path);
      refuseOpenFolder(stats, name, problems);
      return realpathSync(path);
    }
  } catch {
    // Said below, without the system's words: they would repeat the value.
  }
  problems.add(name, create ? 'must be a folder that can be written' : 'must be a folder that exists');
  return undefined;
}

/** Makes and removes a folder: rights and read-only mounts show in no other way. A full disk passes, since it may not stay so. */
function probe(path: string): void {
  try {
    rmdirSync(mkdtempSync(join(path, '.probe-')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Reads BATCH_DIR and REPORT_DIR (BATCH_DIR/reports when unset). */
export function readDirectories(settings: Settings, problems: Problems): Directories {
  const { BATCH_DIR: batches } = settings;
  const batchDir = batches ? folder(batches, 'BATCH_DIR', problems, { create: false }) : undefined;
  const reports = settings.REPORT_DIR || (batchDir && join(batchDir, 'reports'));
  const reportDir = reports ? folder(reports, 'REPORT_DIR', problems, { create: true }) : undefined;
  return { ...(batchDir && { batchDir }), ...(reportDir && { reportDir }) };
}
