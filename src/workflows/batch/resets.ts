import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { BATCH_UNRESOLVED, BY_ITSELF } from '../../contract/batch/batch.js';
import { pause } from './interruptions.js';
import type { BatchRun } from './run.js';

/**
 * True in a run that was cut from another one by a reset: that one may have started orders which this one knows nothing
 * of. Asked only where a run without a reset would end, never to order steps: their history is the same in both.
 */
export const isReset = (): boolean => workflowInfo().runId !== workflowInfo().originalExecutionRunId;

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
