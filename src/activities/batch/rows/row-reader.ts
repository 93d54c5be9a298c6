import { type BatchRow, type BatchSource, openBatchSource } from '../../../batch-files/source.js';
import type { Directories } from '../../../config.js';
import type { BatchInput, BatchPlan, BatchProgress } from '../../../contract/batch/batch.js';

/** Opens exactly the bytes that were planned: a batch, or a report, of another file would be worse than none. Throws BatchFileError. */
export const openPlanned = (
  directories: Directories | undefined,
  { file, rows }: Pick<BatchInput, 'file' | 'rows'>,
  { sha256 }: Pick<BatchPlan, 'sha256'>,
): Promise<BatchSource> => openBatchSource(directories, { ...(file && { file: { ...file, sha256 } }), rows });

/** Rows of a batch in groups. Close it. */
export interface RowReader {
  /** The next rows, at most `count`; fewer only at the end. */
  next(count: number): Promise<BatchRow[]>;
  close(): Promise<void>;
}

/** Reads the rows from where the progress stands. */
export function readFrom(source: BatchSource, { offset, taken }: BatchProgress): RowReader {
  const rest = source.rows(offset, taken)[Symbol.asyncIterator]();
  return {
    next: async (count) => {
      const rows: BatchRow[] = [];
      while (rows.length < count) {
        const { done, value } = await rest.next();
        if (done) break;
        rows.push(value);
      }
      return rows;
    },
    close: () => source.close(),
  };
}
