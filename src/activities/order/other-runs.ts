import { activityInfo, getClient } from '@temporalio/activity';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { PayloadDecryptionError } from '../../client/errors.js';
import { listRuns } from '../../client/pages.js';
import { uuidsOfRun } from '../../client/sent-earlier.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { afterEndWorkflowId, parseAfterEndWorkflowId, quoted, searchAttribute } from '../../contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../contract/order/types.js';

/** Maximum number of runs to read of each kind. An order is rarely started again. */
const MOST_RUNS = 20;

/** Maximum number of uuids that callbacks named: who holds a callback URL may name any. */
const MOST_CALLED_BACK = 3;

/** Uuids of orders of other runs. `isCut`: there are more runs than were read. */
interface NamedOrders {
  /** By the service. */
  shown: ReadonlySet<string>;
  /** By a callback alone, newest first. */
  calledBack: ReadonlySet<string>;
  isCut: boolean;
}

/**
 * Returns the orders that the service showed to other runs of these orders, or that callbacks after
 * their end named. Temporal shows them until its retention.
 */
export async function ordersOfOtherRuns(workflowIds: readonly string[]): Promise<NamedOrders> {
  const client = getClient();
  const list = (query: string, pageSize = MOST_RUNS) => listRuns(client, { query, pageSize });
  const types = ORDER_TYPES.map((type) => quoted(workflowTypeOf(type))).join(', ');
  const ended = idsIn(workflowIds.map(afterEndWorkflowId));
  return callTemporal(client, async () => {
    const [own, asked, called] = await Promise.all([
      list(`${idsIn(workflowIds)} AND WorkflowType IN (${types})`),
      // Those that were shown an order asked a person. Callbacks alone add none of these.
      list(`${ended} AND ${searchAttribute.needsAttention.name} IS NOT NULL`),
      list(`${ended} AND ${searchAttribute.orderUuid.name} IS NOT NULL`, MOST_CALLED_BACK),
    ]);
    const { runId: ownRunId } = activityInfo().workflowExecution ?? {};
    const shown = new Set<string>();
    for (const run of [...own.runs.filter(({ runId }) => runId !== ownRunId), ...asked.runs]) {
      for (const uuid of await shownIn(client, run)) shown.add(uuid);
    }
    const uuids = called.runs.flatMap(({ typedSearchAttributes: known }) => known.get(searchAttribute.orderUuid) ?? []);
    const calledBack = new Set(uuids.filter((uuid) => !shown.has(uuid)));
    return { shown, calledBack, isCut: own.token !== undefined || asked.token !== undefined };
  });
}

const idsIn = (workflowIds: readonly string[]): string => `WorkflowId IN (${workflowIds.map(quoted).join(', ')})`;

/** In an order's own run, the attribute is the service's word, after its end a callback's. */
async function shownIn(client: Client, { workflowId, runId, typedSearchAttributes }: WorkflowExecutionInfo) {
  const uuid = typedSearchAttributes.get(searchAttribute.orderUuid);
  if (uuid !== undefined && parseAfterEndWorkflowId(workflowId) === undefined) return [uuid];
  return (await unlessUnreadable(uuidsOfRun(client, { workflowId, runId }))) ?? [];
}

/** Returns undefined for values that are encrypted with a missing key. */
export const unlessUnreadable = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (PayloadDecryptionError.is(error)) return undefined;
    throw error;
  });
