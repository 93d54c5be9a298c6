import { ActivityFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { ReportBatchAnswer } from '../../contract/batch/activities.js';
import type { BatchOutcomes, BatchPlan, BatchResult } from '../../contract/batch/batch.js';
import { wholeFile } from '../profiles.js';
import { isReset, unresolved } from './interruptions.js';
import type { BatchRun } from './run.js';
import { enter } from './show.js';

/** The result of a plan, or of a batch that was stopped before its first row: nothing was started. */
export function nothingStarted(run: BatchRun, plan: BatchPlan): BatchResult {
  return resultOf(run, plan, counted(run, plan));
}

/** Writes the reports and puts the result together. Without a report the batch's own counts stand, and attention stays. */
export async function report(run: BatchRun, plan: BatchPlan): Promise<BatchResult> {
  enter(run, 'reporting', 'the report');
  const { reportBatch } = proxyActivities<Activities>({ ...wholeFile, summary: 'Read the end of every row, report' });
  const { account, input, progress } = run;
  try {
    return resultOf(run, plan, await reportBatch({ account, input, plan, taken: progress.taken }));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = `no report was written: ${error.cause?.message ?? 'its activity was ended'}`;
    // Its own counts may lack what was started before the reset.
    if (isReset()) throw unresolved(reason);
    run.reportProblem = reason;
    return resultOf(run, plan, counted(run, plan));
  }
}

/** What the batch counted on the way; a row that was taken but never started counts as not started. */
function counted({ progress }: BatchRun, plan: BatchPlan): ReportBatchAnswer {
  const ended = Object.values(progress.outcomes).reduce((sum, count) => sum + count, 0);
  const outcomes: BatchOutcomes = { ...progress.outcomes, notStarted: plan.rows - ended };
  return { outcomes, moved: progress.moved, started: progress.started };
}

function resultOf(run: BatchRun, plan: BatchPlan, answer: ReportBatchAnswer): BatchResult {
  const { batchId, digest, rows } = plan;
  return { batchId, digest, rows, ...answer, plan, stopped: run.stopped };
}
