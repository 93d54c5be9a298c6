import { type BatchRow, type BatchSource, openBatchSource } from '../../src/batch-files/source.js';
import type { BatchFile } from '../../src/contract/batch/batch.js';
import { folderWith } from '../support/batch-files.js';

/** Opens a file with this content below a folder of its own. */
export const opened = (content: string | Uint8Array, name = 'rows.csv', sha256?: string): Promise<BatchSource> =>
  openBatchSource({ batchDir: folderWith(name, content) }, { file: { path: name, ...(sha256 && { sha256 }) } });

/** All rows of a source from a place on; closes it. */
export async function rowsOf(source: BatchSource, offset?: number, taken?: number): Promise<BatchRow[]> {
  try {
    const rows: BatchRow[] = [];
    for await (const row of source.rows(offset, taken)) rows.push(row);
    return rows;
  } finally {
    await source.close();
  }
}

/** Opens a file, reads it and answers its rows. */
export const read = async (content: string | Uint8Array, name?: string): Promise<BatchRow[]> =>
  rowsOf(await opened(content, name));

/** Opens a file that exists below a folder and reads it to its end. */
export async function readAll(batchDir: string, file: BatchFile): Promise<BatchRow[]> {
  return rowsOf(await openBatchSource({ batchDir }, { file }));
}
