import { ActivityFailure, CancellationScope, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { BatchRun } from './run.js';

/**
 * Runs an activity that may be interrupted; undefined when it ended without an answer because of that. `onLost` gets what
 * the last heartbeat of an interrupted one said, where its worker died.
 */
export async function interruptible<T>(
  run: BatchRun,
  call: () => Promise<T>,
  onLost?: (details: unknown) => void,
): Promise<T | undefined> {
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
    if (isCancellation(error)) return undefined;
    if (interrupted && error instanceof ActivityFailure) {
      const { cause } = error;
      if (cause instanceof TimeoutFailure && cause.lastHeartbeatDetails) onLost?.(cause.lastHeartbeatDetails);
      return undefined;
    }
    throw error;
  } finally {
    run.interrupt = undefined;
  }
}
