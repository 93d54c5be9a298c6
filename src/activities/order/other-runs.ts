import { activityInfo, getClient } from '@temporalio/activity';
import { PayloadDecryptionError } from '../../client/errors.js';
import { uuidsOfRun } from '../../client/sent-earlier.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { afterEndWorkflowId, quoted, searchAttribute } from '../../contract/names.js';

/** Maximum number of runs to read. An order is rarely started again. */
const MOST_RUNS = 20;

/**
 * Returns the uuids of orders that the service showed to other runs of these orders, or named in
 * callbacks after their end. Temporal shows them until its retention.
 */
export async function uuidsOfOtherRuns(workflowIds: readonly string[]): Promise<string[]> {
  const client = getClient();
  const ids = workflowIds.flatMap((id) => [id, afterEndWorkflowId(id)]);
  const query = `WorkflowId IN (${ids.map(quoted).join(', ')})`;
  const { runId: ownRunId } = activityInfo().workflowExecution ?? {};
  return callTemporal(client, async () => {
    const uuids = new Set<string>();
    let count = 0;
    for await (const { workflowId, runId, typedSearchAttributes } of client.workflow.list({ query })) {
      if (runId === ownRunId) continue;
      const named = typedSearchAttributes.get(searchAttribute.orderUuid);
      const read = () => unlessUnreadable(uuidsOfRun(client, { workflowId, runId }));
      for (const uuid of named === undefined ? ((await read()) ?? []) : [named]) uuids.add(uuid);
      count += 1;
      if (count === MOST_RUNS) break;
    }
    return [...uuids];
  });
}

/** Returns undefined for values that are encrypted with a missing key. */
export const unlessUnreadable = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (PayloadDecryptionError.is(error)) return undefined;
    throw error;
  });
