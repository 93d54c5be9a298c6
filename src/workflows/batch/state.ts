import { workflowInfo } from '@temporalio/workflow';
import {
  type BatchInput,
  type BatchPhase,
  type BatchPlan,
  type BatchProgress,
  type BatchState,
  BY_ITSELF,
  NONE_ENDED,
} from '../../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
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
  offset: 0,
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
export function attentionOf(run: BatchRun): string | undefined {
  if (run.phase === 'awaitingApproval') {
    return run.approvals ? 'its plan waits for the approval of a second person' : 'its plan waits for an approval';
  }
  if (run.reportProblem) return run.reportProblem;
  if (run.paused?.by === BY_ITSELF) return `paused by itself: ${run.paused.reason}`;
  if (run.stopped?.by === BY_ITSELF) return `stopped by itself: ${run.stopped.reason}`;
  if (run.progress.held && !run.paused && !run.stopped) return `sends nothing for now: ${run.progress.held}`;
  return run.progress.attention;
}

/** The answer of the `batchState` query. */
export function batchState(run: BatchRun): BatchState {
  const { phase, batchId, waitingFor, input, plan, progress, sendingSince, approvedBy, approvals, paused, stopped } =
    run;
  const people = { startedBy: input?.startedBy, approvedBy, approvals, paused, stopped };
  return { phase, batchId, waitingFor, plan, progress, sendingSince, ...people, attention: attentionOf(run) };
}
