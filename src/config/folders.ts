import { mkdirSync, mkdtempSync, realpathSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from './env.js';
import { refuseOpenFolder } from './secret-files.js';
import type { Settings } from './settings.js';

/** Real paths of the folders that workers share. */
export interface Directories {
  /** Batch files; absent if batches come inline only. */
  batchDir?: string;
  /** Reports; absent if none are written. */
  reportDir?: string;
}

/** Returns the real path of a folder, created if `create` is set; undefined if it is unusable. */
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
    // Reported below: the system's message would repeat the value.
  }
  problems.add(name, create ? 'must be a folder that can be written' : 'must be a folder that exists');
  return undefined;
}

/** Creates and removes a folder, which reveals missing rights. A full disk passes. */
function probe(path: string): void {
  try {
    rmdirSync(mkdtempSync(join(path, '.probe-')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Reads BATCH_DIR and REPORT_DIR (default: BATCH_DIR/reports). */
export function readDirectories(settings: Settings, problems: Problems): Directories {
  const { BATCH_DIR: batches } = settings;
  const batchDir = batches ? folder(batches, 'BATCH_DIR', problems, { create: false }) : undefined;
  const reports = settings.REPORT_DIR || (batchDir && join(batchDir, 'reports'));
  const reportDir = reports ? folder(reports, 'REPORT_DIR', problems, { create: true }) : undefined;
  if (batchDir && reportDir && `${batchDir}/`.startsWith(`${reportDir}/`)) {
    problems.add('REPORT_DIR', 'must not hold BATCH_DIR: nothing below it is a batch file');
  }
  return { ...(batchDir && { batchDir }), ...(reportDir && { reportDir }) };
}
