import { ApplicationFailure, defineQuery, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchInstruction,
  type BatchState,
  BY_ITSELF,
} from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import { maySend, pause, resume, stop } from './interruptions.js';
import { type BatchRun, batchState } from './state.js';

/* What people may ask of a batch. Refusals are synchronous, change nothing and leave no trace in the history. */

/** An update that somebody with a name and a reason asks for. */
function onInstruction(
  run: BatchRun,
  name: string,
  description: string,
  refusal: (run: BatchRun, instruction: BatchInstruction | undefined) => string | undefined,
  obey: (run: BatchRun, instruction: BatchInstruction) => void,
): void {
  setHandler(defineUpdate<void, [BatchInstruction]>(name), (instruction) => obey(run, instruction), {
    description: `${description} {"by", "reason"}`,
    validator: (instruction) => refuseFor(refusal(run, instruction)),
  });
}

/** Synchronous on purpose: an async validator would never refuse. */
function refuseFor(reason: string | undefined): void {
  if (reason) throw ApplicationFailure.nonRetryable(reason, 'Refused');
}

/** Sets all handlers of a batch. Called before the first await, so that no message is missed. */
export function setBatchHandlers(run: BatchRun): void {
  setHandler(defineQuery<BatchState>(BATCH_MESSAGES.state), () => batchState(run), {
    description: 'Phase, plan, progress, who approved, paused or stopped, and why a person should look.',
  });
  setHandler(
    defineUpdate<void, [BatchApproval]>(BATCH_MESSAGES.approve),
    ({ by }) => {
      run.approvedBy = by;
    },
    {
      description: 'Approves exactly this plan: {"digest", "by"}; "by" must not be who started the batch.',
      validator: (approval) => refuseFor(approvalRefusal(run, approval)),
    },
  );
  onInstruction(
    run,
    BATCH_MESSAGES.pause,
    'Sends nothing new until resume; started orders go on.',
    pauseRefusal,
    pause,
  );
  onInstruction(run, BATCH_MESSAGES.resume, 'Goes on sending.', resumeRefusal, resume);
  onInstruction(
    run,
    BATCH_MESSAGES.stop,
    'Sends nothing new any more; started orders are followed to their end.',
    stopRefusal,
    stop,
  );
}

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
function approvalRefusal(run: BatchRun, approval: BatchApproval | undefined): string | undefined {
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

/** Why a pause is refused. */
function pauseRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be sent, the batch is ${run.phase}`;
  if (run.phase === 'awaitingApproval') return 'it waits for an approval and sends nothing; stop it instead';
  return run.paused ? 'it is paused already' : (busy() ?? instructionProblem(instruction));
}

/** Why a resume is refused. */
function resumeRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!run.paused || run.stopped) return 'it is not paused';
  return busy() ?? instructionProblem(instruction);
}

const busy = (): string | undefined =>
  workflowInfo().historyLength >= BUSY_FROM_EVENTS ? 'too many requests at a time; ask again in a moment' : undefined;

/** Why a stop is refused; never because of too many others. */
function stopRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be stopped, the batch is ${run.stopped ? 'stopped' : run.phase}`;
  return instructionProblem(instruction);
}
