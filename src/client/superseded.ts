import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { quoted, RECONCILE_WORKFLOW } from '../contract/names.js';

/** Ids that one request asks about, and runs that it reads: what is beyond them counts as it stands. */
const [MOST_IDS, MOST_RUNS] = [500, 1_000];

/**
 * The run ids of those after which a newer run of the same workflow id says how things are. Never of reconciliations: another one may have
 * looked at another time, and what the one before found is still so.
 */
export async function supersededRuns(
  client: Pick<Client, 'workflow'>,
  runs: readonly WorkflowExecutionInfo[],
): Promise<ReadonlySet<string>> {
  const closed = runs.filter(({ type, closeTime }) => type !== RECONCILE_WORKFLOW && closeTime !== undefined);
  if (closed.length === 0) return new Set();
  const ids = [...new Set(closed.map(({ workflowId }) => workflowId))].slice(0, MOST_IDS);
  const oldest = new Date(Math.min(...closed.map(({ startTime }) => startTime.getTime())));
  const query = [`WorkflowId IN (${ids.map(quoted).join(', ')})`, `StartTime >= ${quoted(oldest.toISOString())}`].join(
    ' AND ',
  );
  const newest = new Map<string, number>();
  const { runs: later } = await firstPage(client, { query, pageSize: MOST_RUNS });
  for (const { workflowId, startTime } of later)
    newest.set(workflowId, Math.max(startTime.getTime(), newest.get(workflowId) ?? 0));
  const isSuperseded = ({ workflowId, startTime }: WorkflowExecutionInfo) =>
    (newest.get(workflowId) ?? 0) > startTime.getTime();
  return new Set(closed.filter(isSuperseded).map(({ runId }) => runId));
}

/**
 * The first page of a list, in one request, up to the first workflow that cannot be read: whoever reaches Temporal may start one with any
 * memo. `isWhole`: there is no more.
 */
export async function firstPage(
  { workflow }: Pick<Client, 'workflow'>,
  options: ListOptions & { pageSize: number },
): Promise<{ runs: WorkflowExecutionInfo[]; isWhole: boolean }> {
  const runs: WorkflowExecutionInfo[] = [];
  try {
    for await (const info of workflow.list(options)) {
      runs.push(info);
      if (runs.length === options.pageSize) return { runs, isWhole: false };
    }
    return { runs, isWhole: true };
  } catch (error) {
    if (isGrpcServiceError(error) || error instanceof ServiceError) throw error;
    return { runs, isWhole: false };
  }
}
