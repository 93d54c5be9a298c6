import { allHandlersFinished, CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { BatchInput, BatchPlan, BatchProgress, BatchResult } from '../contract/batch/batch.js';
import { isReset, maySend, stop } from './batch/interruptions.js';
import { setBatchHandlers } from './batch/messages.js';
import { awaitApproval, makePlan, pauseOnShortfall } from './batch/prepare.js';
import { nothingStarted, report } from './batch/report.js';
import { type BatchRun, type CarriedBatch, openBatch } from './batch/run.js';
import { sendRows } from './batch/send-rows.js';
import { enter } from './batch/show.js';
import { checkBatch, hasTimeLimit } from './identity.js';

/**
 * Pays out the rows of a file: checks them all, has the plan approved where that is asked for, starts one withdraw
 * workflow per row and follows them to their ends. Cancelling it is a stop: started orders are followed to their end.
 * `carried` and `progress` come from the run before this one; of anybody else they are ignored.
 */
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
    const result = await runBatch(run);
    enter(run, 'done', 'nothing');
    await condition(allHandlersFinished);
    return result;
  });
}

/** True for a run that the batch itself went on in. A cron and a retry hand on what anybody gave the run before. */
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

/** All that comes before the first row is sent; a run that was continued has it behind it. */
async function prepare(run: BatchRun): Promise<BatchPlan> {
  checkBatch(run);
  const plan = await makePlan(run);
  if (run.input.planOnly) return plan;
  await awaitApproval(run);
  pauseOnShortfall(run, plan);
  return plan;
}
