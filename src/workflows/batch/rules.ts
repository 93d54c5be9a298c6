import { type AttentionCode, WHY, YOUR_NAME } from '../../contract/attention.js';
import {
  asFailed,
  type BatchApproval,
  type BatchChoice,
  type BatchInstruction,
  type BatchInterruption,
  type BatchPlan,
  type BatchProgress,
  type BatchState,
  BY_ITSELF,
  NONE_ENDED,
} from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import { signatureProblem, starterProblem } from '../../contract/signature.js';
import { instructionProblem, nameProblem } from '../instruction.js';
import type { BatchRun } from './state.js';

/* Rules of a batch that need no runtime. The double for unit tests uses them, too. */

/** State of a batch on which the rules depend. */
export type Batch = Omit<BatchRun, 'outbox' | 'knownRun' | 'startedAt' | 'interrupt'>;

/** Returns the progress of a batch before its first row. */
export const noProgress = (): BatchProgress => ({
  taken: 0,
  started: 0,
  open: [],
  outcomes: { ...NONE_ENDED },
  moved: {},
  exhausted: false,
  unsettled: [],
});

const maySend = ({ phase, stopped, progress }: Batch): boolean =>
  !stopped && !progress.exhausted && ['checking', 'awaitingApproval', 'sending', 'paused'].includes(phase);

/** Returns true until all orders have ended: a stop also cancels rows that wait for funds. */
export const canStop = (run: Batch): boolean =>
  maySend(run) || (!run.stopped && run.phase === 'following' && run.progress.open.length > 0);

/** Returns why an operator should look at the batch itself. */
export function attentionOf(run: Batch): { code: AttentionCode; reason: string } | undefined {
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
export function batchChoices({ phase, plan, paused, stopped }: Batch, runId: string): BatchChoice[] {
  if (stopped) return [];
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

export function batchState(run: Batch, runId: string): BatchState {
  const { batchId, input, plan, sendingSince, approvedBy, approvals, paused, stopped, failure } = run;
  const people = { startedBy: input?.startedBy, approvedBy, approvals, paused, stopped };
  const choices = batchChoices(run, runId);
  const { phase, waitingFor, progress, choices: shownChoices } = failure ? asFailed(run) : { ...run, choices };
  const { code: attentionCode, reason: attention } = attentionOf(run) ?? {};
  const shown = { phase, batchId, waitingFor, plan, progress, failure, sendingSince, ...people };
  return { ...shown, attention, attentionCode, choices: shownChoices };
}

/** Returns balances that do not cover a plan or, unless approved, are unknown. */
export function uncovered({ currencies }: BatchPlan, isApproved: boolean): string | undefined {
  const short = currencies.filter(({ shortfall }) => shortfall !== undefined);
  const unknown = currencies.filter(({ balanceBefore }) => balanceBefore === null);
  const asks = isApproved ? short : [...short, ...unknown];
  if (asks.length === 0) return undefined;
  const figures = asks.map(({ currency, shortfall }) =>
    shortfall ? `${shortfall} ${currency} are missing` : `the balance of ${currency} could not be read`,
  );
  return `${figures.join(', ')}; resume once it is covered`;
}

export const repeated = ({ approvals = [] }: Batch, name: string | undefined): string | undefined =>
  approvals.some(({ by }) => by === name) ? 'by: has approved it already; another person must, too' : undefined;

/** Returns why an approval is refused. Accepts any argument. */
export function approvalRefusal(run: Batch, approval: BatchApproval | undefined): string | undefined {
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
  return approval?.signature ? undefined : starterProblem('batch', run.input.startedBy, String(approval?.by));
}

export function pauseRefusal(run: Batch, instruction: BatchInstruction | undefined, busy?: string): string | undefined {
  if (!maySend(run)) return `nothing is left to be sent, the batch is ${run.phase}`;
  if (run.phase === 'awaitingApproval') return 'it waits for an approval and sends nothing; stop it instead';
  return run.paused ? 'it is paused already' : (busy ?? instructionProblem(instruction));
}

export function resumeRefusal(
  run: Batch,
  instruction: BatchInstruction | undefined,
  busy?: string,
): string | undefined {
  if (!run.paused || run.stopped) return 'it is not paused';
  return busy ?? instructionProblem(instruction) ?? pauseProblem(run.paused, instruction);
}

/** Returns why a copy of an earlier resume is refused. See `workflows/required.ts`. */
const pauseProblem = ({ at }: BatchInterruption, instruction: BatchInstruction | undefined): string | undefined =>
  (instruction?.pausedAt ?? at) === at
    ? undefined
    : `pausedAt: must be "${at}", the time of the pause that it ends. Look why it was paused before you send that`;

/** Returns why a stop is refused. A stop is never refused for too many earlier ones. */
export function stopRefusal(run: Batch, instruction: BatchInstruction | undefined): string | undefined {
  if (!canStop(run)) return `nothing is left to be stopped, the batch is ${run.stopped ? 'stopped' : run.phase}`;
  return instructionProblem(instruction);
}
