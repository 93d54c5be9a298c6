import { type BatchRow, type BatchSource, readBatchSource } from '../../src/batch-files/source.js';
import type { BatchFile } from '../../src/contract/batch/batch.js';
import { folderWith } from '../support/batch-files.js';

/** Reads a file with this content below a folder of its own. */
export const opened = (content: string | Uint8Array, name = 'rows.csv', sha256?: string): Promise<BatchSource> =>
  readBatchSource({ batchDir: folderWith(name, content) }, { file: { path: name, ...(sha256 && { sha256 }) } });

/** Reads a file and answers its rows. */
export const read = async (content: string | Uint8Array, name?: string): Promise<BatchRow[]> => [
  ...(await opened(content, name)).rows(),
];

/** Reads a file that exists below a folder to its end. */
export const readAll = async (batchDir: string, file: BatchFile): Promise<BatchRow[]> => [
  ...(await readBatchSource({ batchDir }, { file })).rows(),
];
