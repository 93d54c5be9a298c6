import { randomBytes } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding, Level, Target } from './findings.js';

/** Writes and removes a file in each folder: rights, read-only mounts and full disks show in no other way. */
export async function folderFindings({ config: { directories, auditDir } }: Target): Promise<readonly Finding[]> {
  const { batchDir, reportDir } = directories ?? {};
  const found = await Promise.all([
    folderFinding('BATCH_DIR', batchDir, 'warning', 'batches are read from it; only reports would be written below it'),
    folderFinding('REPORT_DIR', reportDir, 'error', 'batches would end without a report'),
    folderFinding('AUDIT_DIR', auditDir, 'error', 'nothing is sent or decided without a record'),
  ]);
  return found.flat();
}

/** What stays until somebody mends it. A full disk is none of these: orders that need it wait, and all others go on. */
const RIGHTS = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR'];

async function folderFinding(
  name: string,
  folder: string | undefined,
  level: Level,
  meaning: string,
): Promise<Finding[]> {
  const why = folder && (await whyNotWritable(folder));
  if (!why) return [];
  const text = `${name}: cannot be written (${why}): ${meaning}. Give the user of this process the right to, or make room`;
  return [{ check: 'folders', level, text, ...(level === 'error' && RIGHTS.includes(why) && { refuses: true }) }];
}

/** The system's code; undefined when a file could be written. */
async function whyNotWritable(folder: string): Promise<string | undefined> {
  const path = join(folder, `.preflight-${randomBytes(8).toString('hex')}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile('written and removed by a check of payment-orders\n');
      await file.sync();
    } finally {
      await file.close();
      await unlink(path);
    }
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  }
}
