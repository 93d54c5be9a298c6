import { workflowInfo } from '@temporalio/workflow';
import type { BatchChoice } from '../../contract/batch/messages.js';
import { WHY, YOUR_NAME } from '../../contract/placeholders.js';
import type { BatchRun } from './state.js';

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
