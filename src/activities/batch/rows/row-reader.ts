import type { BatchRow, BatchSource } from '../../../batch-files/source.js';
import type { BatchProgress } from '../../../contract/batch/batch.js';

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
