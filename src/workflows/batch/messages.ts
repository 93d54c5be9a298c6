import { ApplicationFailure, defineQuery, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { isPlaceholder } from '../../contract/attention.js';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchInstruction,
  type BatchInterruption,
  type BatchState,
  BY_ITSELF,
  type SignedApproval,
} from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import { signatureProblem } from '../../contract/signature.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { otherRun, required, takeSigned } from '../signed.js';
import { maySend, pause, resume, stop } from './interruptions.js';
import { showBatch } from './show.js';
import { type BatchRun, batchState } from './state.js';

/* Updates of a batch. A refusal changes nothing and writes no history. */

type Refusal<T> = (run: BatchRun, sent: T | undefined) => string | undefined;

/** Handles an update. Its validator is synchronous, because an async one would never refuse. */
function onUpdate<T extends BatchApproval | BatchInstruction>(
  run: BatchRun,
  name: string,
  description: string,
  refusal: Refusal<T>,
  obey: (run: BatchRun, sent: T) => void | Promise<void>,
): void {
  setHandler(defineUpdate<void, [T]>(name), (sent) => obey(run, withoutNulls(sent)), {
    description,
    validator: (raw) => {
      const sent = withoutNulls(raw);
      refuseFor(refusal(run, sent) ?? otherRun(sent));
    },
  });
}

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
  const approves =
    'Approves exactly this plan: {"digest", "by"}; "by" must not be who started the batch. Where the account asks for "signature" {keyId, value}: two persons.';
  // Repeated ones are refused before the check, which writes audit lines, and again after it.
  const approvalProblem: Refusal<BatchApproval> = (_, sent) => approvalRefusal(run, sent) ?? repeated(run, sent?.by);
  onUpdate(run, BATCH_MESSAGES.approve, approves, approvalProblem, acceptApproval);
  const pauses = 'Sends nothing new until resume; started orders go on. {"by", "reason"}';
  onUpdate(run, BATCH_MESSAGES.pause, pauses, pauseRefusal, pause);
  const resumes = 'Goes on sending; "pausedAt": the time of the pause that it ends. {"by", "reason"}';
  onUpdate(run, BATCH_MESSAGES.resume, resumes, resumeRefusal, acceptResume);
  const stops = 'Sends nothing new any more; started orders are followed to their end. {"by", "reason"}';
  onUpdate(run, BATCH_MESSAGES.stop, stops, stopRefusal, stop);
}

/** Accepts an approval. Signed ones need two persons, because a starter's name is a claim. */
function acceptApproval(run: BatchRun, approval: BatchApproval): Promise<void> {
  const { signature, digest, by, runId } = approval;
  const choice = { digest, by, runId };
  const signing = required(run.plan?.onlyByCommand);
  return takeSigned({
    input: { account: run.account, update: 'approve', choice, signature, ...signing },
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
  const signing = required(run.plan?.onlyByCommand);
  return takeSigned({
    input: { account: run.account, update: 'resume', choice, signature, paused: run.paused, ...signing },
    refusal: () => resumeRefusal(run, { ...instruction, pausedAt }),
    refuse,
    take: () => resume(run),
  });
}

const MAX_NAME_LENGTH = 120;
const MAX_REASON_LENGTH = 500;
/** Events from which frequent pauses continue the batch in a new run. */
const BUSY_FROM_EVENTS = 450;

/** Returns one form of names that look the same. */
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

/** Returns why a copy of an earlier resume is refused. See `workflows/required.ts`. */
const pauseProblem = ({ at }: BatchInterruption, instruction: BatchInstruction | undefined): string | undefined =>
  (instruction?.pausedAt ?? at) === at
    ? undefined
    : `pausedAt: must be "${at}", the time of the pause that it ends. Look why it was paused before you send that`;

const busy = (): string | undefined =>
  workflowInfo().historyLength >= BUSY_FROM_EVENTS ? 'too many requests at a time; ask again in a moment' : undefined;

/** Returns why a stop is refused. A stop is never refused for too many earlier ones. */
function stopRefusal(run: BatchRun, instruction: BatchInstruction | undefined): string | undefined {
  if (!maySend(run)) return `nothing is left to be stopped, the batch is ${run.stopped ? 'stopped' : run.phase}`;
  return instructionProblem(instruction);
}
