import { workflowInfo } from '@temporalio/workflow';
import type { AttentionCode } from '../../contract/attention.js';
import {
  type BatchChoice,
  type BatchInput,
  type BatchPhase,
  type BatchPlan,
  type BatchProgress,
  type BatchState,
  BY_ITSELF,
  NONE_ENDED,
} from '../../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import { WHY, YOUR_NAME } from '../../contract/placeholders.js';
import { withoutNulls } from '../../contract/without-nulls.js';

/** What a batch takes along into its next run, beside its progress. */
export interface CarriedBatch
  extends Pick<BatchState, 'sendingSince' | 'approvedBy' | 'approvals' | 'paused' | 'stopped'> {
  plan: BatchPlan;
  /** Run that may send. Another one, cut from it by a reset, first asks a person. */
  knownRun: string;
  /** ISO time at which its first run began. */
  startedAt: string;
}

/** Everything one batch workflow knows; handlers and steps read and change it, nothing else is shared. */
export interface BatchRun extends Omit<CarriedBatch, 'plan'> {
  /** As started: unchecked until `checkBatch`, validated in full by the plan activity. */
  readonly input: BatchInput;
  readonly account: string;
  readonly batchId: string;
  plan?: BatchPlan;
  progress: BatchProgress;
  phase: BatchPhase;
  /** What the batch waits for, in words. */
  waitingFor: string;
  /** Why the report is missing, or what cannot be written now. */
  reportProblem?: string;
  /** Ends the activity that runs now, so that a pause, resume or stop is looked at. */
  interrupt?: () => void;
}

const noProgress = (): BatchProgress => ({
  taken: 0,
  started: 0,
  open: [],
  outcomes: { ...NONE_ENDED },
  moved: {},
  exhausted: false,
  unsettled: [],
});

/** The state a batch starts, or goes on, with. Tolerates any input: `checkBatch` refuses bad ones. */
export function openBatch(started: BatchInput, carried?: CarriedBatch, progress = noProgress()): BatchRun {
  const input = withoutNulls(started);
  return {
    input,
    account: input?.account ?? DEFAULT_ACCOUNT,
    // A plan needs no id of its own.
    batchId: input?.batchId ?? '',
    phase: carried ? 'sending' : 'checking',
    waitingFor: 'a worker that reads the rows',
    progress,
    startedAt: workflowInfo().startTime.toISOString(),
    ...carried,
    knownRun: carried && wasResetBefore(carried) ? 'none' : workflowInfo().originalExecutionRunId,
  };
}

/** True for a run that goes on from one that was reset and has not found out: it knows too little, too. */
const wasResetBefore = ({ knownRun }: CarriedBatch): boolean => knownRun !== workflowInfo().continuedFromExecutionRunId;

/** What the next run needs to go on, beside the progress; small, whatever the number of rows. */
export function carriedBatch(run: BatchRun, plan: BatchPlan): CarriedBatch {
  const { knownRun, startedAt, sendingSince, approvedBy, approvals, paused, stopped } = run;
  return { plan, knownRun, startedAt, sendingSince, approvedBy, approvals, paused, stopped };
}

/** Why a person should look at the batch itself; orders that need one say so themselves. */
export function attentionOf(run: BatchRun): { code: AttentionCode; reason: string } | undefined {
  const { phase, approvals, reportProblem, paused, stopped, progress } = run;
  if (phase === 'awaitingApproval') {
    const isSecond = approvals !== undefined;
    const reason = isSecond ? 'its plan waits for the approval of a second person' : 'its plan waits for an approval';
    return { code: 'approval', reason };
  }
  if (reportProblem) return { code: 'not-written', reason: reportProblem };
  if (stopped?.by === BY_ITSELF) return { code: 'batch-stopped', reason: `stopped by itself: ${stopped.reason}` };
  // A stop is the answer to the pause before it.
  if (paused?.by === BY_ITSELF && !stopped)
    return { code: 'batch-paused', reason: `paused by itself: ${paused.reason}` };
  const { held, attention } = progress;
  if (held && !paused && !stopped) return { code: 'batch-held', reason: `sends nothing for now: ${held}` };
  return attention ? { code: 'row-unresolved', reason: attention } : undefined;
}

/** What a person may do with a batch that waits for one. THE source of what the UI shows to be pasted and of what the state offers. */
export function batchChoices({ phase, plan, paused, stopped }: BatchRun): BatchChoice[] {
  if (stopped) return [];
  const { runId } = workflowInfo();
  // A batch that was paused before it had a plan does not know yet who may resume it; who may not is told when he tries.
  const onlyByCommand = plan?.onlyByCommand;
  const byCommand = onlyByCommand && { onlyByCommand };
  const instruction = { by: YOUR_NAME, reason: WHY };
  const stop: BatchChoice = {
    update: 'stop',
    does: 'sends nothing more; what was started goes on to its end',
    argument: instruction,
    // It pays nobody, and needs no signature.
    ...(onlyByCommand === 'encrypted' && byCommand),
  };
  if (paused) {
    const argument = { ...instruction, pausedAt: paused.at, runId };
    return [{ update: 'resume', does: 'sends the rest', argument, ...byCommand }, stop];
  }
  if (!plan || phase !== 'awaitingApproval') return [];
  const argument = { digest: plan.digest, by: YOUR_NAME, runId };
  return [{ update: 'approve', does: 'pays exactly this plan', argument, ...byCommand }, stop];
}

/** The answer of the `batchState` query. */
export function batchState(run: BatchRun): BatchState {
  const { phase, batchId, waitingFor, input, plan, progress, sendingSince, approvedBy, approvals, paused, stopped } =
    run;
  const people = { startedBy: input?.startedBy, approvedBy, approvals, paused, stopped };
  const { code: attentionCode, reason: attention } = attentionOf(run) ?? {};
  const choices = batchChoices(run);
  return { phase, batchId, waitingFor, plan, progress, sendingSince, ...people, attention, attentionCode, choices };
}
