import { type Client, type Workflow, WorkflowFailedError, type WorkflowResultType } from '@temporalio/client';
import { PayloadDecryptionError } from './errors.js';
import { awaitClosingEvent, decodeFirst, type HistoryEvent, ofWorkflow, refuseForeignEnd } from './history.js';

/**
 * Waits for the end of the newest run of an id, or of `runId`, and of runs that it goes on in. Resolves and throws as the SDK's
 * `result` does, and throws PayloadDecryptionError where that run was ended with what another run of the id wrote.
 */
export async function resultOfRun<W extends Workflow>(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowResultType<W>> {
  const run = runId ?? (await newestRun(client, workflowId));
  const end = await awaitClosingEvent(client, { workflowId, runId: run });
  const next = goesOnIn(end);
  if (next) return resultOfRun<W>(client, workflowId, next);
  await refuseForeignEnd(client, end, { workflowId, runId: run });
  const completed = end?.workflowExecutionCompletedEventAttributes;
  // The SDK reads the run's end once more, and words it.
  if (!completed) return client.workflow.result<W>(workflowId, run, { followRuns: false });
  return (await decodeFirst(client, completed.result, ofWorkflow(client, workflowId))) as WorkflowResultType<W>;
}

/**
 * As `resultOfRun` of the newest run, which is most likely `started`: that one is waited for without asking. Where it did not
 * complete, a person may have reset it or started its id again, and what counts is how that run ends.
 */
export async function resultOfNewest<W extends Workflow>(
  client: Client,
  workflowId: string,
  started: string,
): Promise<WorkflowResultType<W>> {
  try {
    return await resultOfRun<W>(client, workflowId, started);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const newest = await newestRun(client, workflowId);
    if (newest === started) throw error;
    return resultOfNewest<W>(client, workflowId, newest);
  }
}

const newestRun = async (client: Client, workflowId: string): Promise<string> =>
  (await client.workflow.getHandle(workflowId).describe()).runId;

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
