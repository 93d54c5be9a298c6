import { ApplicationFailure } from '@temporalio/common';
import { BatchFileError } from '../../batch-files/index.js';

/** The failure for what a batch's rows threw: a file that cannot be used is never asked again, anything else may pass. */
export function batchFailure(error: unknown): unknown {
  if (!(error instanceof BatchFileError)) return error;
  const { failureType: type, message, field, problem: reason } = error;
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [[{ field, reason }]] });
}
