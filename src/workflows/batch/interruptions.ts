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

/** True while rows may still be sent. */
export const maySend = ({ phase, stopped, progress }: BatchRun): boolean =>
  !stopped && !progress.exhausted && ['checking', 'awaitingApproval', 'sending', 'paused'].includes(phase);

/** Nothing new is sent until `resume`. */
export function pause(run: BatchRun, { by, reason }: BatchInstruction): void {
  run.paused = { by, reason, at: now() };
  interruptSending(run);
}

/** Goes on sending. */
export function resume(run: BatchRun): void {
  run.paused = undefined;
  interruptSending(run);
}

/** Nothing new is sent any more. The first stop counts. */
export function stop(run: BatchRun, { by, reason }: BatchInstruction): void {
  run.stopped ??= { by, reason, at: now() };
  run.interrupt?.();
}

/** The check of the rows sends nothing and would only begin again. */
function interruptSending(run: BatchRun): void {
  if (run.phase !== 'checking') run.interrupt?.();
}

const now = (): string => new Date().toISOString();

/** Runs an activity; undefined when it was interrupted. `onLost` gets the heartbeat of one whose worker died. */
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
    // A worker that died meanwhile shows as a time-out, because what was cancelled is not repeated.
    if (isCancellation(error)) return undefined;
    if (interrupted && error instanceof ActivityFailure) {
      const { cause } = error;
      const details = cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
      if (isProgress(details)) onLost?.(details);
      return undefined;
    }
    throw error;
  } finally {
    run.interrupt = undefined;
  }
}

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

/** A chunk found that the run was reset, and which orders were started before: a person says whether it goes on. */
export function meetReset(run: BatchRun, resetRun: string, rows: number): void {
  // Paused by a person meanwhile: the next chunk, after the resume, finds it again.
  if (run.paused && !run.stopped) return;
  run.knownRun = resetRun;
  run.sendingSince ??= run.startedAt;
  const { taken, exhausted } = run.progress;
  if (run.stopped || exhausted) return;
  const found = `the orders of the first ${taken} of ${rows} rows were found`;
  pause(run, { by: BY_ITSELF, reason: `this run was reset; ${found}. Resume to send the rest, or stop` });
}

/** The failure of a reset run that cannot find out what was started before it. */
export function unresolved(reason: string): ApplicationFailure {
  const advice =
    'Orders that were started before go on. Mend it and start the batch with `again`: nobody is paid twice';
  return ApplicationFailure.nonRetryable(`this run was reset, and ${reason}. ${advice}`, BATCH_UNRESOLVED);
}
