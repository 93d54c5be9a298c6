import { type BatchRow, type BatchSource, openBatchSource } from '../../../batch-files/index.js';
import type { Directories } from '../../../config.js';
import type { BatchInput, BatchPlan, BatchProgress } from '../../../contract/batch/batch.js';

/** Rows of a batch in groups, from where the progress stands. Close it. */
export class RowReader {
  readonly #source: BatchSource;
  readonly #rows: AsyncIterator<BatchRow>;

  private constructor(source: BatchSource, { offset, taken }: BatchProgress) {
    this.#source = source;
    this.#rows = source.rows(offset, taken)[Symbol.asyncIterator]();
  }

  /** Opens exactly the bytes that were planned. Throws BatchFileError. */
  static async open(
    directories: Directories | undefined,
    { file, rows }: BatchInput,
    { sha256 }: Pick<BatchPlan, 'sha256'>,
    progress: BatchProgress,
  ): Promise<RowReader> {
    const source = await openBatchSource(directories, {
      ...(file && { file: { ...file, sha256 } }),
      ...(rows && { rows }),
    });
    return new RowReader(source, progress);
  }

  /** The next rows, at most `count`; fewer only at the end. */
  async next(count: number): Promise<BatchRow[]> {
    const rows: BatchRow[] = [];
    while (rows.length < count) {
      const { done, value } = await this.#rows.next();
      if (done) break;
      rows.push(value);
    }
    return rows;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
