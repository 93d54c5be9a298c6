import { ApplicationFailure, defineQuery, defineUpdate, setHandler } from '@temporalio/workflow';
import {
  APPROVE_UPDATE,
  BATCH_STATE_QUERY,
  type BatchApproval,
  type BatchInstruction,
  type BatchState,
  PAUSE_UPDATE,
  RESUME_UPDATE,
  STOP_UPDATE,
} from '../../contract/batch/batch.js';
import { approvalRefusal, pause, pauseRefusal, resume, resumeRefusal, stop, stopRefusal } from './interruptions.js';
import { type BatchRun, batchState } from './run.js';

const stateQuery = defineQuery<BatchState>(BATCH_STATE_QUERY);
const approveUpdate = defineUpdate<void, [BatchApproval]>(APPROVE_UPDATE);

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
  setHandler(stateQuery, () => batchState(run), {
    description: 'Phase, plan, progress, who approved, paused or stopped, and why a person should look.',
  });
  setHandler(
    approveUpdate,
    ({ by }) => {
      run.approvedBy = by;
    },
    {
      description: 'Approves exactly this plan: {"digest", "by"}; "by" must not be who started the batch.',
      validator: (approval) => refuseFor(approvalRefusal(run, approval)),
    },
  );
  onInstruction(run, PAUSE_UPDATE, 'Sends nothing new until resume; started orders go on.', pauseRefusal, pause);
  onInstruction(run, RESUME_UPDATE, 'Goes on sending.', resumeRefusal, resume);
  onInstruction(
    run,
    STOP_UPDATE,
    'Sends nothing new any more; started orders are followed to their end.',
    stopRefusal,
    stop,
  );
}
