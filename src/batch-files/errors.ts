import { BATCH_FILE_UNUSABLE } from '../contract/batch/batch.js';
import { type FieldError, INVALID_INPUT } from '../contract/failures.js';

/** A batch file that cannot be used; nothing was sent. `problem` shows no cell of the file. */
export class BatchFileError extends Error {
  override readonly name = 'BatchFileError';

  constructor(
    readonly failureType: typeof INVALID_INPUT | typeof BATCH_FILE_UNUSABLE,
    readonly field: FieldError['field'],
    readonly problem: string,
  ) {
    super(`${field}: ${problem}`);
  }
}

/** InvalidInput: the same file under the same path will never do. */
export const badFile = (problem: string, field = 'file'): BatchFileError =>
  new BatchFileError(INVALID_INPUT, field, problem);

/** BatchFileUnusable: the file is not there, or not the one it should be. */
export const unusableFile = (problem: string, field = 'file'): BatchFileError =>
  new BatchFileError(BATCH_FILE_UNUSABLE, field, problem);
