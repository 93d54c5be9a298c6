import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import { NOT_WRITTEN } from '../../contract/batch/activities.js';
import {
  BATCH_UNRESOLVED,
  type BatchInstruction,
  type BatchProgress,
  BY_ITSELF,
  isProgress,
} from '../../contract/batch/batch.js';
import { failureOf } from '../activity-calls.js';
import { showBatch } from './show.js';
import type { BatchRun } from './state.js';

/** Sends nothing until a resume. A pause by itself never replaces the one that stands. */
export function pause(run: BatchRun, { by, reason }: BatchInstruction): void {
  if (run.paused && by === BY_ITSELF) return;
  run.paused = { by, reason, at: now() };
  interruptSending(run);
}

export function resume(run: BatchRun): void {
  run.paused = undefined;
  interruptSending(run);
}

/** Stops sending for good. The first stop counts. */
export function stop(run: BatchRun, { by, reason }: BatchInstruction): void {
  run.stopped ??= { by, reason, at: now() };
  run.interrupt?.();
}

function interruptSending(run: BatchRun): void {
  // The check of the rows sends nothing.
  if (run.phase !== 'checking') run.interrupt?.();
}

const now = (): string => new Date().toISOString();

/** Runs an activity; undefined if it was interrupted. `onLost`: heartbeat of a dead worker. */
export async function interruptible<T>(
  run: BatchRun,
  call: () => Promise<T>,
  onLost?: (progress: BatchProgress) => void,
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
    if (isCancellation(error)) return undefined;
    if (!interrupted || !(error instanceof ActivityFailure)) throw error;
    // A dead worker shows as a time-out, because a cancelled activity is not repeated.
    const details = error.cause instanceof TimeoutFailure ? error.cause.lastHeartbeatDetails : undefined;
    if (isProgress(details)) onLost?.(details);
    return undefined;
  } finally {
    run.interrupt = undefined;
  }
}

/** Runs an activity that writes files. On failure raises attention and repeats it. */
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

/** Pauses a batch whose run was reset, until an operator decides. */
export function pauseAfterReset(run: BatchRun, resetRun: string, rows: number): void {
  // The next chunk after the resume finds the reset again.
  if (run.paused && !run.stopped) return;
  run.knownRun = resetRun;
  run.sendingSince ??= run.startedAt;
  const { taken, exhausted } = run.progress;
  if (run.stopped || exhausted) return;
  const found = `the orders of the first ${taken} of ${rows} rows were found`;
  pause(run, { by: BY_ITSELF, reason: `this run was reset; ${found}. Resume to send the rest, or stop` });
}

/** Returns the failure of a reset run that cannot find its started orders. */
export function unresolved(reason: string): ApplicationFailure {
  const advice = 'Started orders continue. Correct the cause and start the batch with `again`: nobody is paid twice';
  return ApplicationFailure.nonRetryable(`this run was reset, and ${reason}. ${advice}`, BATCH_UNRESOLVED);
}
