import {
  type Client,
  type Workflow,
  WorkflowContinuedAsNewError,
  WorkflowFailedError,
  type WorkflowResultType,
} from '@temporalio/client';
import { PayloadDecryptionError } from './errors.js';
import { type HistoryEvent, readClosingEvent, refuseForeignEnd } from './history.js';

/**
 * Waits for the end of the newest run of an id, or of `runId`, and of runs that it goes on in. Resolves and throws as the SDK's
 * `result` does, and throws PayloadDecryptionError where that run was ended with what another run of the id wrote.
 */
export async function resultOfRun<W extends Workflow>(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowResultType<W>> {
  const run = runId ?? (await client.workflow.getHandle(workflowId).describe()).runId;
  const result = client.workflow.result<W>(workflowId, run, { followRuns: false });
  await result.catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError || error instanceof WorkflowContinuedAsNewError)) throw error;
  });
  const end = await readClosingEvent(client, { workflowId, runId: run });
  const next = goesOnIn(end);
  if (next) return resultOfRun<W>(client, workflowId, next);
  await refuseForeignEnd(client, end, { workflowId, runId: run });
  return result;
}

const goesOnIn = (end: HistoryEvent): string | null | undefined =>
  (
    end?.workflowExecutionContinuedAsNewEventAttributes ??
    end?.workflowExecutionCompletedEventAttributes ??
    end?.workflowExecutionFailedEventAttributes ??
    end?.workflowExecutionTimedOutEventAttributes
  )?.newExecutionRunId;

/**
 * What a workflow ended with, where it has this field. Throws PayloadDecryptionError for anything else: whoever answers workflow
 * tasks can end one with what it was told or told before, which is encrypted for it as well.
 */
export function resultWith<T extends object>(field: keyof T & string, value: T): T {
  if (typeof value === 'object' && value !== null && field in value) return value;
  throw new PayloadDecryptionError('the workflow ended with something that is no result of it', 'foreign');
}
