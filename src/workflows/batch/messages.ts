import { ApplicationFailure, defineQuery, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  type BatchApproval,
  type BatchInstruction,
  type BatchInterruption,
  type BatchState,
  BY_ITSELF,
  type SignedApproval,
} from '../../contract/batch/batch.js';
import { BATCH_MESSAGES } from '../../contract/batch/messages.js';
import { maskName } from '../../contract/masking.js';
import { isPlaceholder } from '../../contract/placeholders.js';
import { signatureProblem } from '../../contract/signature.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { otherRun, required, takeSigned } from '../signed.js';
import { maySend, pause, resume, stop } from './interruptions.js';
import { showBatch } from './show.js';
import { type BatchRun, batchState } from './state.js';

/* Updates of a batch. A refusal changes nothing and writes no history. */

/** Handles an update with a name and a reason. */
function onInstruction(
  run: BatchRun,
  name: string,
  description: string,
  refusal: (run: BatchRun, instruction: BatchInstruction | undefined) => string | undefined,
  obey: (run: BatchRun, instruction: BatchInstruction) => void | Promise<void>,
): void {
  setHandler(defineUpdate<void, [BatchInstruction]>(name), (instruction) => obey(run, withoutNulls(instruction)), {
    description: `${description} {"by", "reason"}`,
    validator: (sent) => {
      const instruction = withoutNulls(sent);
      refuseFor(refusal(run, instruction) ?? otherRun(instruction));
    },
  });
}

/** Synchronous: an async validator would never refuse. */
function refuseFor(reason: string | undefined): void {
  if (reason) refuse(reason);
}

function refuse(reason: string): never {
  throw ApplicationFailure.nonRetryable(reason, 'Refused');
}

/** Sets all handlers before the first await, so that no message is missed. */
export function setBatchHandlers(run: BatchRun): void {
  setHandler(defineQuery<BatchState>(BATCH_MESSAGES.state), () => batchState(run), {
    description: 'Phase, plan, progress, who approved, paused or stopped, and why a person should look.',
  });
  setHandler(
    defineUpdate<void, [BatchApproval]>(BATCH_MESSAGES.approve),
    (approval) => acceptApproval(run, withoutNulls(approval)),
    {
      description:
        'Approves exactly this plan: {"digest", "by"}; "by" must not be who started the batch. Where the account asks for "signature" {keyId, value}: two persons.',
      // Refused before the check, which writes audit lines. The handler checks again, for two at
      // once.
      validator: (sent) => {
        const approval = withoutNulls(sent);
        refuseFor(approvalRefusal(run, approval) ?? repeated(run, approval?.by) ?? otherRun(approval));
      },
    },
  );
  onInstruction(
    run,
    BATCH_MESSAGES.pause,
    'Sends nothing new until resume; started orders go on.',
    pauseRefusal,
    pause,
  );
  onInstruction(
    run,
    BATCH_MESSAGES.resume,
    'Goes on sending; "pausedAt": the time of the pause that it ends.',
    resumeRefusal,
    acceptResume,
  );
  onInstruction(
    run,
    BATCH_MESSAGES.stop,
    'Sends nothing new any more; started orders are followed to their end.',
    stopRefusal,
    stop,
  );
}

/** Accepts an approval. Signed ones need two persons, because a starter's name is a claim. */
function acceptApproval(run: BatchRun, approval: BatchApproval): Promise<void> {
  const { signature, digest, by, runId } = approval;
  return takeSigned({
    input: {
      account: run.account,
      update: 'approve',
      choice: { digest, by, runId },
      signature,
      ...required(run.plan?.onlyByCommand),
    },
    refusal: () => approvalRefusal(run, approval),
    refuse,
    take: (keyId) => {
      if (keyId) return recordApproval(run, { by, keyId });
      refuseFor(starterProblem(run, by));
      run.approvedBy = by;
    },
  });
}

const repeated = ({ approvals = [] }: BatchRun, name: string | undefined): string | undefined =>
  approvals.some(({ by }) => by === name) ? 'by: has approved it already; another person must, too' : undefined;

/** Counts persons, not keys. */
function recordApproval(run: BatchRun, approval: SignedApproval): void {
  const { approvals = [] } = run;
  refuseFor(repeated(run, approval.by));
  run.approvals = [...approvals, approval];
  if (approvals.length > 0) run.approvedBy = run.approvals.map(({ by }) => by).join(' and ');
  showBatch(run);
}

/** Resumes after the check, for this very pause. Pause and stop pay nobody and need no key. */
function acceptResume(run: BatchRun, instruction: BatchInstruction): Promise<void> {
  const { signature, by, reason, runId } = instruction;
  const pausedAt = instruction.pausedAt ?? run.paused?.at;
  const choice = { by, reason, pausedAt, runId };
  return takeSigned({
    input: {
      account: run.account,
      update: 'resume',
      choice,
      signature,
      paused: run.paused,
      ...required(run.plan?.onlyByCommand),
    },
    refusal: () => resumeRefusal(run, { ...instruction, pausedAt }),
    refuse,
    take: () => resume(run),
  });
}

const MAX_NAME_LENGTH = 120;
const MAX_REASON_LENGTH = 500;
/** Endless pauses must not fill the history: first the batch continues in a new run. */
const BUSY_FROM_EVENTS = 450;

/** Equal-looking names are one person. */
const folded = (name: string): string => name.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();

function textProblem(field: string, value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return `${field}: required`;
  if (isPlaceholder(value)) return `${field}: must be your own, in place of ${value.trim()}`;
  if (value.length > maxLength) return `${field}: longer than ${maxLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) ? `${field}: contains control characters` : undefined;
}

function nameProblem(by: unknown): string | undefined {
  const problem = textProblem('by', by, MAX_NAME_LENGTH);
  if (problem) return problem;
  return folded(String(by)) === BY_ITSELF ? 'by: is not a person' : undefined;
}

/** Returns why an approval is refused. Accepts any argument. */
function approvalRefusal(run: BatchRun, approval: BatchApproval | undefined): string | undefined {
  const approved = run.approvedBy !== undefined && `it was approved by ${maskName(run.approvedBy)}`;
  if (run.phase !== 'awaitingApproval') {
    return `the batch waits for no approval, it is ${run.phase}${approved ? `: ${approved}` : ''}`;
  }
  if (approved) return `${approved} just now`;
  const problem = nameProblem(approval?.by) ?? signatureProblem(approval?.signature);
  if (problem) return problem;
  if (approval?.digest !== run.plan?.digest) {
    return 'digest: is not that of the plan that waits. Read the plan again and approve what it shows';
  }
  // A signature proves the person; the check says whether one is needed.
  return approval?.signature ? undefined : starterProblem(run, String(approval?.by));
}

const starterProblem = ({ input }: BatchRun, by: string): string | undefined =>
  folded(by) === folded(String(input.startedBy))
    ? `${maskName(by)} started this batch, so somebody else must approve it`
    : undefined;

const instructionProblem = (instruction: BatchInstruction | undefined): string | undefined =>
  nameProblem(instruction?.by) ??
  textProblem('reason', instruction?.reason, MAX_REASON_LENGTH) ??
  signatureProblem(instruction?.signature);

function pauseRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be sent, the batch is ${run.phase}`;
  if (run.phase === 'awaitingApproval') return 'it waits for an approval and sends nothing; stop it instead';
  return run.paused ? 'it is paused already' : (busy() ?? instructionProblem(instruction));
}

function resumeRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!run.paused || run.stopped) return 'it is not paused';
  return busy() ?? instructionProblem(instruction) ?? pauseProblem(run.paused, instruction);
}

/** A copy of an earlier resume must not send the rest. See `workflows/required.ts`. */
const pauseProblem = ({ at }: BatchInterruption, instruction: BatchInstruction | undefined): string | undefined =>
  (instruction?.pausedAt ?? at) === at
    ? undefined
    : `pausedAt: must be "${at}", the time of the pause that it ends. Look why it was paused before you send that`;

const busy = (): string | undefined =>
  workflowInfo().historyLength >= BUSY_FROM_EVENTS ? 'too many requests at a time; ask again in a moment' : undefined;

/** A stop is never refused for too many others. */
function stopRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be stopped, the batch is ${run.stopped ? 'stopped' : run.phase}`;
  return instructionProblem(instruction);
}
