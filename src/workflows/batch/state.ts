import { workflowInfo } from '@temporalio/workflow';
import type { BatchInput, BatchPhase, BatchPlan, BatchProgress, BatchState } from '../../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { type Outbox, openOutbox } from '../outbox.js';
import { noProgress } from './rules.js';

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
  failure?: BatchState['failure'];
  waitingFor: string;
  /** Why a report is missing, or what cannot be written now. */
  reportProblem?: string;
  readonly outbox: Outbox;
  interrupt?: () => void;
}

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
