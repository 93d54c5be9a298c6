import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { BatchRun } from './batch-run.js';

/** Runs an activity that may be interrupted; undefined when it ended without an answer because of that. */
export async function interruptible<T>(run: BatchRun, call: () => Promise<T>): Promise<T | undefined> {
  const scope = new CancellationScope();
  let interrupted = false;
  run.interrupt = () => {
    interrupted = true;
    scope.cancel();
  };
  try {
    return await scope.run(call);
  } catch (error) {
    // A worker that died meanwhile shows as a time-out, because what was cancelled is not repeated.
    if (isCancellation(error) || (interrupted && error instanceof ActivityFailure)) return undefined;
    throw error;
  } finally {
    run.interrupt = undefined;
  }
}
