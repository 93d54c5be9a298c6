import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  proxyActivities,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { ReportBatchAnswer } from '../contract/batch/activities.js';
import type { BatchInput, BatchOutcomes, BatchPlan, BatchProgress, BatchResult } from '../contract/batch/batch.js';
import { wholeFile } from './activity-calls.js';
import { emit } from './batch/events.js';
import { maySend, stop, unresolved, untilWritten } from './batch/interruptions.js';
import { setBatchHandlers } from './batch/messages.js';
import { awaitApproval, checkBatch, makePlan, pauseOnShortfall } from './batch/prepare.js';
import { sendRows } from './batch/send-rows.js';
import { enter } from './batch/show.js';
import { type BatchRun, type CarriedBatch, openBatch } from './batch/state.js';
import { hasTimeLimit, isReset } from './identity.js';
import { handOver } from './outbox.js';

/** Checks rows, waits for approval, starts and follows their orders. A cancellation stops it. */
export async function bulkWithdraw(
  input: BatchInput,
  carried?: CarriedBatch,
  progress?: BatchProgress,
): Promise<BatchResult> {
  const run = isContinued() ? openBatch(input, carried, progress) : openBatch(input);
  setBatchHandlers(run);
  CancellationScope.current().cancelRequested.catch(() => {
    if (maySend(run)) stop(run, { by: 'a cancel request', reason: 'the workflow was cancelled' });
  });
  return CancellationScope.nonCancellable(async () => {
    try {
      const result = await runBatch(run);
      enter(run, 'done', 'nothing');
      emit(run, 'batch.ended', { outcome: result.outcomes.completed === result.rows ? 'completed' : 'incomplete' });
      await condition(allHandlersFinished);
      return result;
    } catch (error) {
      if (error instanceof ApplicationFailure) emit(run, 'batch.ended', { failure: error.type });
      throw error;
    } finally {
      await handOver(run.outbox);
    }
  });
}

// With worker versions, a batch ends on its first version. Unversioned workers must not set this.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  bulkWithdraw,
);

/** Returns true for a run that the batch itself continued. Cron and retry pass arguments from anyone. */
function isContinued(): boolean {
  const { continuedFromExecutionRunId, attempt } = workflowInfo();
  return continuedFromExecutionRunId !== undefined && attempt === 1 && !hasTimeLimit();
}

async function runBatch(run: BatchRun): Promise<BatchResult> {
  const plan = run.plan ?? (await prepare(run));
  if (run.input.planOnly) return nothingStarted(run, plan);
  await sendRows(run, plan);
  return run.sendingSince || isReset() ? report(run, plan) : nothingStarted(run, plan);
}

/** Runs everything before the first row. */
async function prepare(run: BatchRun): Promise<BatchPlan> {
  checkBatch(run);
  const plan = await makePlan(run);
  if (run.input.planOnly) return plan;
  await awaitApproval(run);
  pauseOnShortfall(run, plan);
  return plan;
}

const nothingStarted = (run: BatchRun, plan: BatchPlan): BatchResult => resultOf(run, plan, counted(run, plan));

/** Writes the reports and returns the result. Without a report, the batch's own counts hold. */
async function report(run: BatchRun, plan: BatchPlan): Promise<BatchResult> {
  enter(run, 'reporting', 'the report');
  const { reportBatch } = proxyActivities<Activities>({ ...wholeFile, summary: 'Read the end of every row, report' });
  const { account, input, progress, startedAt, paused, stopped } = run;
  const reported = { account, input, plan, taken: progress.taken, startedAt, paused, stopped };
  try {
    return resultOf(run, plan, await untilWritten(run, (more) => reportBatch({ ...reported, ...more })));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = `no report was written: ${error.cause?.message ?? 'its activity was ended'}`;
    // Its counts may lack orders from before the reset.
    if (isReset()) throw unresolved(reason);
    run.reportProblem = reason;
    return resultOf(run, plan, counted(run, plan));
  }
}

/** Returns the batch's own counts. A row that was never started counts as not started. */
function counted({ progress }: BatchRun, plan: BatchPlan): ReportBatchAnswer {
  const ended = Object.values(progress.outcomes).reduce((sum, count) => sum + count, 0);
  const outcomes: BatchOutcomes = { ...progress.outcomes, notStarted: plan.rows - ended };
  return { outcomes, moved: progress.moved, started: progress.started };
}

function resultOf(run: BatchRun, plan: BatchPlan, answer: ReportBatchAnswer): BatchResult {
  const { batchId, digest, rows } = plan;
  return { batchId, digest, rows, ...answer, plan, stopped: run.stopped };
}
