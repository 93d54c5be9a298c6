import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyActivities,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { ReportBatchAnswer } from '../contract/batch/activities.js';
import {
  APPROVAL_EXPIRES_MS,
  BATCH_NOT_APPROVED,
  BATCH_STOPPED,
  type BatchInput,
  type BatchOutcomes,
  type BatchPlan,
  type BatchProgress,
  type BatchResult,
  BY_ITSELF,
  inlineBytes,
  MAX_INLINE_BYTES,
  shownInterruption,
} from '../contract/batch/batch.js';
import { BATCH_ID_FORMAT, batchPlanWorkflowId, batchWorkflowId } from '../contract/names.js';
import { maskWallets } from '../contract/wallets.js';
import { failureOf, wholeFile } from './activity-calls.js';
import { emit } from './batch/events.js';
import { interruptible, pause, stop, unresolved, untilWritten } from './batch/interruptions.js';
import { setBatchHandlers } from './batch/messages.js';
import { canStop, uncovered } from './batch/rules.js';
import { sendRows } from './batch/send-rows.js';
import { enter } from './batch/show.js';
import { type BatchRun, type CarriedBatch, openBatch } from './batch/state.js';
import {
  checkAccount,
  checkInput,
  checkNoTimeLimit,
  checkShownName,
  checkWorkflowId,
  hasTimeLimit,
  isReset,
  refuseInput,
} from './identity.js';
import { beforeEndOf, learnReceivers } from './outbox.js';

/** Checks rows, waits for approval, starts and follows their orders. A cancellation stops it. */
export async function bulkWithdraw(
  input: BatchInput,
  carried?: CarriedBatch,
  progress?: BatchProgress,
): Promise<BatchResult> {
  const run = isContinued() ? openBatch(input, carried, progress) : openBatch(input);
  setBatchHandlers(run);
  CancellationScope.current().cancelRequested.catch(() => {
    if (canStop(run)) stop(run, { by: 'a cancel request', reason: 'the workflow was cancelled' });
  });
  return CancellationScope.nonCancellable(async () => {
    try {
      const result = await runBatch(run);
      enter(run, 'done', 'nothing');
      const { outcomes, rows, report: file, moved } = result;
      const outcome = outcomes.completed === rows ? 'completed' : 'incomplete';
      emit(run, 'batch.ended', { outcome, report: file?.path, report_sha256: file?.sha256 }, moved);
      return result;
    } catch (error) {
      if (error instanceof ApplicationFailure) {
        emit(run, 'batch.ended', { failure: error.type });
        run.phase = 'failed';
        run.failure = { code: error.type ?? 'Unknown', detail: maskWallets(error.message) };
      }
      throw error;
    } finally {
      await beforeEndOf(run.outbox);
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
  const { taken, ahead } = progress;
  const reported = { account, input, plan, taken, ahead, startedAt, paused, stopped };
  try {
    const answer = await untilWritten(run, (more) => reportBatch({ ...reported, ...more }));
    const { notStarted: _, ...outcomes } = answer.outcomes;
    // Rows that were parked may have gone on.
    run.progress = { ...run.progress, moved: answer.moved, started: answer.started, outcomes };
    return resultOf(run, plan, answer);
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

/** Checks the identity of a batch, or of a plan, which needs no id. Throws InvalidInput. */
function checkBatch({ input, account, batchId }: BatchRun): void {
  checkInput(refuseInput, input, '{batchId, file or rows, …}');
  checkAccount(refuseInput, account);
  const mayLackId = input.planOnly === true && input.batchId === undefined;
  if (!mayLackId && (typeof batchId !== 'string' || !BATCH_ID_FORMAT.test(batchId))) {
    refuseInput('batchId', 'must match [A-Za-z0-9._-]{1,120}');
  }
  if (typeof batchId === 'string') checkShownName(refuseInput, 'batchId', batchId);
  if (inlineBytes(input) > MAX_INLINE_BYTES) {
    refuseInput('rows', `are more than ${MAX_INLINE_BYTES} bytes; send them in a file`);
  }
  checkNoTimeLimit(refuseInput, 'it would end in the middle');
  const planPrefix = batchPlanWorkflowId(account, '');
  if (input.planOnly !== true) {
    checkWorkflowId(refuseInput, 'batchId', batchWorkflowId(account, batchId));
  } else if (!workflowInfo().workflowId.startsWith(planPrefix)) {
    refuseInput('planOnly', `needs a workflow id that begins with ${planPrefix}`);
  }
}

/** Checks every row and returns the plan. A bad row or file fails, and nothing was sent. */
async function makePlan(run: BatchRun): Promise<BatchPlan> {
  const { planBatch } = proxyActivities<Activities>({ ...wholeFile, summary: 'Check every row, make the plan' });
  enter(run, 'checking', 'the check of every row');
  try {
    const { account, input } = run;
    const check = () => untilWritten(run, (more) => planBatch({ account, input, ...more }));
    // Without a plan, a reset run could not find its started orders.
    const plan = (await interruptible(run, check)) ?? (mayHaveSent(run) ? await check() : undefined);
    if (!plan) throw ApplicationFailure.nonRetryable(`${stopReason(run)}. Nothing was sent`, BATCH_STOPPED);
    run.plan = plan;
    if (!run.input.planOnly) run.outbox.receivers = plan.receivers;
    emit(run, 'batch.planned');
    return plan;
  } catch (error) {
    enter(run, 'done', 'nothing');
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (mayHaveSent(run)) throw unresolved(`its rows cannot be checked: ${cause?.message ?? 'no reason given'}`);
    const failure = failureOf(error);
    if (!failure) throw error;
    // A plan sends no events.
    const outbox = run.input.planOnly ? { ...run.outbox } : run.outbox;
    throw Object.assign(failure, { details: learnReceivers(outbox, failure.details ?? []) });
  }
}

const mayHaveSent = ({ input }: BatchRun): boolean => !input.planOnly && isReset();

const stopReason = ({ stopped }: BatchRun): string => (stopped ? shownInterruption(stopped).reason : 'stopped');

async function awaitApproval(run: BatchRun): Promise<void> {
  const { approval, approvalExpiresMs = APPROVAL_EXPIRES_MS } = run.input;
  if (approval !== 'required' || run.stopped) return;
  enter(run, 'awaitingApproval', 'an approval');
  const isAnswered = () => run.approvedBy !== undefined || run.stopped !== undefined;
  const answered = await condition(isAnswered, approvalExpiresMs, { summary: 'Until the plan expires unapproved' });
  if (answered) return;
  if (isReset()) return stop(run, { by: BY_ITSELF, reason: 'nobody approved the plan in time' });
  enter(run, 'done', 'nothing');
  throw ApplicationFailure.nonRetryable(
    `nobody approved the plan in time; nothing was sent. Start it again under another batch id, or with \`again\``,
    BATCH_NOT_APPROVED,
  );
}

/** Pauses on a short balance, or on an unknown one without approval. */
function pauseOnShortfall(run: BatchRun, plan: BatchPlan): void {
  // Its rows wait themselves.
  const waits = run.input.whenShort === 'wait' || run.input.whenShort === 'overtake';
  const reason = run.stopped || waits ? undefined : uncovered(plan, run.approvedBy !== undefined);
  if (reason) pause(run, { by: BY_ITSELF, reason });
}
