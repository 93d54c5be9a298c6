import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** A workflow task that failed twice in a row: the first time may have been a worker that went. */
const STUCK_FROM_ATTEMPT = 3;

/**
 * Returns true for an open run that cannot go on: no code of ours runs in it, so that it raises no attention itself. Temporal's list
 * does not tell; a description does.
 */
export async function isStuck(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<boolean> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) >= STUCK_FROM_ATTEMPT;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
