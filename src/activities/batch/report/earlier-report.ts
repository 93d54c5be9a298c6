import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** The hash of the batch's file stands near the beginning of its JSON report. */
const HEAD_BYTES = 2_048;

/**
 * Sets the report of another file aside that was sent under the same batch id: its rows are in no other report. It is
 * kept as `<name>.<first 8 digits of that file's hash>.report.csv` and `.json`. Repeating it changes nothing.
 */
export async function setEarlierReportAside(reportDir: string, name: string, sha256: string): Promise<void> {
  const earlier = /"sha256": "([0-9a-f]{64})"/.exec(await headOf(join(reportDir, `${name}.report.json`)))?.[1];
  if (earlier === undefined || earlier === sha256) return;
  // The JSON last: it tells whose report it is, should this be done in two goes.
  for (const ending of ['report.csv', 'report.json']) {
    const kept = join(reportDir, `${name}.${earlier.slice(0, 8)}.${ending}`);
    await rename(join(reportDir, `${name}.${ending}`), kept).catch(unlessMissing);
  }
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file).catch(unlessMissing);
  if (!handle) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
