import { workflowInfo } from '@temporalio/workflow';
import type { AttentionCode } from '../../contract/attention.js';
import { WHY, YOUR_NAME } from '../../contract/attention.js';
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
import { withoutNulls } from '../../contract/without-nulls.js';
import { type Outbox, openOutbox } from '../outbox.js';

export interface CarriedBatch
  extends Pick<BatchState, 'sendingSince' | 'approvedBy' | 'approvals' | 'paused' | 'stopped'> {
  plan: BatchPlan;
  /** Run that may send. After a reset, an operator is asked first. */
  knownRun: string;
  /** Start of its first run (ISO time). */
  startedAt: string;
}

export interface BatchRun extends Omit<CarriedBatch, 'plan'> {
  /** Unchecked until `checkBatch`; the plan activity validates it in full. */
  readonly input: BatchInput;
  readonly account: string;
  readonly batchId: string;
  plan?: BatchPlan;
  progress: BatchProgress;
  phase: BatchPhase;
  waitingFor: string;
  /** Why a report is missing, or what cannot be written now. */
  reportProblem?: string;
  readonly outbox: Outbox;
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

/** Returns the state of a new or continued batch, for any input. */
export function openBatch(started: BatchInput, carried?: CarriedBatch, progress = noProgress()): BatchRun {
  const input = withoutNulls(started);
  const account = input?.account ?? DEFAULT_ACCOUNT;
  const outbox = { ...openOutbox(account), receivers: carried?.plan.receivers };
  return {
    input,
    account,
    outbox,
    batchId: input?.batchId ?? '',
    phase: carried ? 'sending' : 'checking',
    waitingFor: 'a worker that reads the rows',
    progress,
    startedAt: workflowInfo().startTime.toISOString(),
    ...carried,
    knownRun: carried && wasResetBefore(carried) ? 'none' : workflowInfo().originalExecutionRunId,
  };
}

/** Returns true if an earlier run was reset and has not noticed it. */
const wasResetBefore = ({ knownRun }: CarriedBatch): boolean => knownRun !== workflowInfo().continuedFromExecutionRunId;

export function carriedBatch(run: BatchRun, plan: BatchPlan): CarriedBatch {
  const { knownRun, startedAt, sendingSince, approvedBy, approvals, paused, stopped } = run;
  return { plan, knownRun, startedAt, sendingSince, approvedBy, approvals, paused, stopped };
}

/** Returns why an operator should look at the batch itself. */
export function attentionOf(run: BatchRun): { code: AttentionCode; reason: string } | undefined {
  const { phase, approvals, reportProblem, paused, stopped, progress } = run;
  if (phase === 'awaitingApproval') {
    const isSecond = approvals !== undefined;
    const reason = isSecond ? 'its plan waits for the approval of a second person' : 'its plan waits for an approval';
    return { code: 'approval', reason };
  }
  if (reportProblem) return { code: 'not-written', reason: reportProblem };
  if (stopped?.by === BY_ITSELF) return { code: 'batch-stopped', reason: `stopped by itself: ${stopped.reason}` };
  // A stop answers the pause before it.
  if (paused?.by === BY_ITSELF && !stopped)
    return { code: 'batch-paused', reason: `paused by itself: ${paused.reason}` };
  const { held, attention } = progress;
  if (held && !paused && !stopped) return { code: 'batch-held', reason: `sends nothing for now: ${held}` };
  return attention ? { code: 'row-unresolved', reason: attention } : undefined;
}

/** Returns every decision that is possible now, for the UI and the state. */
export function batchChoices({ phase, plan, paused, stopped }: BatchRun): BatchChoice[] {
  if (stopped) return [];
  const { runId } = workflowInfo();
  // Before the plan, it is unknown who may resume.
  const onlyByCommand = plan?.onlyByCommand;
  const byCommand = onlyByCommand && { onlyByCommand };
  const instruction = { by: YOUR_NAME, reason: WHY };
  const stop: BatchChoice = {
    update: 'stop',
    does: 'sends nothing more; started orders continue to their ends',
    argument: instruction,
    // A stop pays nobody, so it needs no signature.
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

export function batchState(run: BatchRun): BatchState {
  const { phase, batchId, waitingFor, input, plan, progress, sendingSince, approvedBy, approvals, paused, stopped } =
    run;
  const people = { startedBy: input?.startedBy, approvedBy, approvals, paused, stopped };
  const { code: attentionCode, reason: attention } = attentionOf(run) ?? {};
  const choices = batchChoices(run);
  return { phase, batchId, waitingFor, plan, progress, sendingSince, ...people, attention, attentionCode, choices };
}
