import { workflowInfo } from '@temporalio/workflow';
import type { BatchApproval, BatchInstruction } from '../../contract/batch/batch.js';
import { BY_ITSELF } from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import type { BatchRun } from './run.js';

/**
 * What people may ask of a batch, and why a request is refused. Refusals are synchronous and change nothing; they are
 * answered to the caller and leave no trace in the history.
 */

const MAX_NAME_LENGTH = 120;
const MAX_REASON_LENGTH = 500;
/** Whoever pauses and resumes without end must not fill the history: the batch first goes on in a new run. */
const BUSY_FROM_EVENTS = 450;

/** Names that look the same are the same person. */
const folded = (name: string): string => name.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();

function textProblem(field: string, value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return `${field}: required`;
  if (value.length > maxLength) return `${field}: longer than ${maxLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) ? `${field}: contains control characters` : undefined;
}

function nameProblem(by: unknown): string | undefined {
  const problem = textProblem('by', by, MAX_NAME_LENGTH);
  if (problem) return problem;
  return folded(String(by)) === BY_ITSELF ? 'by: is not a person' : undefined;
}

/** Why an approval is refused; undefined = it counts. Tolerates any argument. */
export function approvalRefusal(run: BatchRun, approval: BatchApproval | undefined): string | undefined {
  if (run.phase !== 'awaitingApproval') return `the batch waits for no approval, it is ${run.phase}`;
  if (run.approvedBy !== undefined) return `it was approved by ${maskName(run.approvedBy)} just now`;
  const problem = nameProblem(approval?.by);
  if (problem) return problem;
  if (approval?.digest !== run.plan?.digest) {
    return 'digest: is not that of the plan that waits. Read the plan again and approve what it shows';
  }
  if (folded(String(approval?.by)) === folded(String(run.input.startedBy))) {
    return 'by: started this batch; somebody else must approve it';
  }
  return undefined;
}

const instructionProblem = (instruction: BatchInstruction | undefined): string | undefined =>
  nameProblem(instruction?.by) ?? textProblem('reason', instruction?.reason, MAX_REASON_LENGTH);

/** True while rows may still be sent. */
export const maySend = ({ phase, stopped, progress }: BatchRun): boolean =>
  !stopped && !progress.exhausted && ['checking', 'awaitingApproval', 'sending', 'paused'].includes(phase);

/** Why a pause is refused. */
export function pauseRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be sent, the batch is ${run.phase}`;
  if (run.phase === 'awaitingApproval') return 'it waits for an approval and sends nothing; stop it instead';
  return run.paused ? 'it is paused already' : (busy() ?? instructionProblem(instruction));
}

/** Why a resume is refused. */
export function resumeRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!run.paused || run.stopped) return 'it is not paused';
  return busy() ?? instructionProblem(instruction);
}

const busy = (): string | undefined =>
  workflowInfo().historyLength >= BUSY_FROM_EVENTS ? 'too many requests at a time; ask again in a moment' : undefined;

/** Why a stop is refused; never because of too many others. */
export function stopRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be stopped, the batch is ${run.stopped ? 'stopped' : run.phase}`;
  return instructionProblem(instruction);
}

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
