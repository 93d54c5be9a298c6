import { ApplicationFailure, defineQuery, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchInstruction,
  type BatchState,
  type SignedApproval,
} from '../../contract/batch/batch.js';
import { starterProblem } from '../../contract/signature.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { otherRun, required, takeSigned } from '../signed.js';
import { pause, resume, stop } from './interruptions.js';
import { approvalRefusal, batchState, pauseRefusal, repeated, resumeRefusal, stopRefusal } from './rules.js';
import { showBatch } from './show.js';
import type { BatchRun } from './state.js';

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
      refuseFor(refusal(run, sent) ?? otherRun(name, sent));
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
  setHandler(defineQuery<BatchState>(BATCH_MESSAGES.state), () => batchState(run, workflowInfo().runId), {
    description: 'Phase, plan, progress, who approved, paused or stopped, and why a person should look.',
  });
  const approves =
    'Approves exactly this plan: {"digest", "by"}; "by" must not be who started the batch. Where the account asks for "signature" {keyId, value}: two persons.';
  // Repeated ones are refused before the check, which writes audit lines, and again after it.
  const approvalProblem: Refusal<BatchApproval> = (_, sent) => approvalRefusal(run, sent) ?? repeated(run, sent?.by);
  onUpdate(run, BATCH_MESSAGES.approve, approves, approvalProblem, acceptApproval);
  const pauses = 'Sends nothing new until resume; started orders go on. {"by", "reason"}';
  onUpdate(run, BATCH_MESSAGES.pause, pauses, (_, sent) => pauseRefusal(run, sent, busy()), pause);
  const resumes = 'Goes on sending; "pausedAt": the time of the pause that it ends. {"by", "reason"}';
  onUpdate(run, BATCH_MESSAGES.resume, resumes, (_, sent) => resumeRefusal(run, sent, busy()), acceptResume);
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
      refuseFor(starterProblem('batch', run.input.startedBy, by));
      run.approvedBy = by;
    },
  });
}

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
    refusal: () => resumeRefusal(run, { ...instruction, pausedAt }, busy()),
    refuse,
    take: () => resume(run),
  });
}

/** Events from which frequent pauses continue the batch in a new run. */
const BUSY_FROM_EVENTS = 450;

const busy = (): string | undefined =>
  workflowInfo().historyLength >= BUSY_FROM_EVENTS ? 'too many requests at a time; ask again in a moment' : undefined;
