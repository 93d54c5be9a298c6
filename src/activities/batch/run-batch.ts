import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { BatchWorkflow } from '../../client/batch/batch-handle.js';
import { batchStartOptions } from '../../client/batch/start-batch.js';
import { readFirstInput, resultOfRun, resultWith } from '../../client/history.js';
import { describeRun, whyUnreadable } from '../../client/standing.js';
import { startUnlessTaken } from '../../client/temporal-calls.js';
import type { PeriodBatch } from '../../contract/batch/activities.js';
import {
  BATCH_FILE_UNUSABLE,
  BATCH_UNRESOLVED,
  type BatchInput,
  type BatchResult,
} from '../../contract/batch/batch.js';
import { BULK_WITHDRAW_WORKFLOW, batchWorkflowId, DEFAULT_ACCOUNT } from '../../contract/names.js';
import type { ActivityDeps } from '../deps.js';
import { comeBackIn } from '../failures.js';
import { pollDelayMs } from '../order/poll-order.js';

/** Starts the batch of a period, or follows the existing one. Fails if that has another file. */
export function runBatchActivity(deps: ActivityDeps) {
  return async function runBatch(batch: PeriodBatch): Promise<BatchResult> {
    const client = getClient();
    const workflowId = batchWorkflowId(batch.account ?? DEFAULT_ACCOUNT, batch.batchId);
    const found = await describeRun(client, workflowId);
    try {
      if (!found) await start(deps, batch);
      else await refuseOtherFile(batch, workflowId);
      if (!found || found.status.name === 'RUNNING') {
        throw comeBackIn(pollDelayMs(deps.pace, activityInfo().attempt), `batch ${batch.batchId} goes on`);
      }
      return resultWith('outcomes', await resultOfRun<BatchWorkflow>(client, workflowId, found.runId));
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw failureOf(batch, error);
      const why = whyUnreadable(error);
      if (!why) throw error;
      // No later look can read it: a person must give the worker the key.
      const message = `what became of batch ${batch.batchId} cannot be read (${why}); its orders go on. Mend that and trigger the period again: nothing is paid twice`;
      throw ApplicationFailure.nonRetryable(message, BATCH_UNRESOLVED);
    }
  };
}

async function start({ confirmAttempt }: ActivityDeps, batch: PeriodBatch): Promise<void> {
  if (batch.file.sha256 === undefined) {
    throw ApplicationFailure.nonRetryable(`batch ${batch.batchId} is not known to Temporal any more`, BATCH_UNRESOLVED);
  }
  // The run of the schedule may have been cancelled since.
  await confirmAttempt(undefined);
  // If another start was faster, the next look follows it.
  await startUnlessTaken<BatchWorkflow>(getClient(), BULK_WITHDRAW_WORKFLOW, batchStartOptions(batch));
}

/** Refuses to follow a batch of other rows, which would report unpaid people as paid. */
async function refuseOtherFile({ batchId, file }: PeriodBatch, workflowId: string): Promise<void> {
  const { input } = await readFirstInput<BatchInput>(getClient(), workflowId);
  const theirs = input?.file;
  const isSame = theirs?.sha256 ? [undefined, theirs.sha256].includes(file.sha256) : theirs?.path === file.path;
  if (isSame) return;
  const startedWith = theirs ? 'another file' : 'rows of its own, and no file';
  const message = `file.sha256: batch ${batchId} was started with ${startedWith}; nothing of ${file.path} was sent. Start what is new in it as another batch, or this one with \`again\``;
  throw ApplicationFailure.nonRetryable(message, BATCH_FILE_UNUSABLE, [{ field: 'file.sha256', reason: 'differs' }]);
}

/** Returns the batch's own failure if nothing was sent. */
function failureOf({ batchId }: PeriodBatch, { cause }: WorkflowFailedError): ApplicationFailure {
  if (cause instanceof ApplicationFailure && cause.type) {
    return ApplicationFailure.nonRetryable(`batch ${batchId}: ${cause.message}`, cause.type, ...(cause.details ?? []));
  }
  const message = `the workflow of batch ${batchId} ended without a result; orders it started go on. Start the file again with \`again\``;
  return ApplicationFailure.nonRetryable(message, BATCH_UNRESOLVED);
}
