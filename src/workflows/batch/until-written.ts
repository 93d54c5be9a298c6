import { NOT_WRITTEN } from '../../contract/batch/activities.js';
import { failureOf } from '../activity-calls.js';
import { showBatch } from './show.js';
import type { BatchRun } from './state.js';

/**
 * Runs an activity that writes files or into the audit record. Where that fails a person is told, and the server repeats the
 * activity, without history, until it can.
 */
export async function untilWritten<T>(run: BatchRun, write: (more: { tells?: true }) => Promise<T>): Promise<T> {
  try {
    return await write({ tells: true });
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.type !== NOT_WRITTEN) throw error;
    run.reportProblem = failure.message;
  }
  showBatch(run);
  return write({}).finally(() => {
    run.reportProblem = undefined;
  });
}
