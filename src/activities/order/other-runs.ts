import { activityInfo, getClient } from '@temporalio/activity';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { PayloadDecryptionError } from '../../client/errors.js';
import { listRuns } from '../../client/pages.js';
import { uuidsOfRun } from '../../client/sent-earlier.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { afterEndWorkflowId, parseAfterEndWorkflowId, quoted, searchAttribute } from '../../contract/names.js';

/** Maximum number of runs to read. An order is rarely started again. */
const MOST_RUNS = 20;

/** Orders of other runs, by uuid: the service showed them, or only a callback named them. */
export type NamedOrders = ReadonlyMap<string, 'shown' | 'called back'>;

/**
 * Returns the orders that the service showed to other runs of these orders, or named in callbacks
 * after their end. Temporal shows them until its retention.
 */
export async function ordersOfOtherRuns(workflowIds: readonly string[]): Promise<NamedOrders> {
  const client = getClient();
  const ids = workflowIds.flatMap((id) => [id, afterEndWorkflowId(id)]);
  const query = `WorkflowId IN (${ids.map(quoted).join(', ')})`;
  const { runId: ownRunId } = activityInfo().workflowExecution ?? {};
  return callTemporal(client, async () => {
    const named = new Map<string, 'shown' | 'called back'>();
    const { runs } = await listRuns(client, { query, pageSize: MOST_RUNS });
    for (const run of runs) {
      if (run.runId === ownRunId) continue;
      const { shown, calledBack } = await namedBy(client, run);
      if (calledBack !== undefined && !named.has(calledBack)) named.set(calledBack, 'called back');
      for (const uuid of shown) named.set(uuid, 'shown');
    }
    return named;
  });
}

/** Look-ups after an end have the uuid that a callback named. */
async function namedBy(client: Client, { workflowId, runId, typedSearchAttributes }: WorkflowExecutionInfo) {
  const uuid = typedSearchAttributes.get(searchAttribute.orderUuid);
  const isAfterEnd = parseAfterEndWorkflowId(workflowId) !== undefined;
  if (uuid !== undefined && !isAfterEnd) return { shown: [uuid] };
  const shown = (await unlessUnreadable(uuidsOfRun(client, { workflowId, runId }))) ?? [];
  return { shown, calledBack: uuid };
}

/** Returns undefined for values that are encrypted with a missing key. */
export const unlessUnreadable = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (PayloadDecryptionError.is(error)) return undefined;
    throw error;
  });
