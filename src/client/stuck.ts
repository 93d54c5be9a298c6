import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { quoted, searchAttribute } from '../contract/names.js';
import type { AttentionElsewhere } from './list-orders.js';
import { callTemporal } from './temporal-calls.js';

/** A workflow task that failed twice in a row: the first time may have been a worker that went. */
const STUCK_FROM_ATTEMPT = 3;

/** Open workflows that are asked about, at most: each costs a call. Those asked at the same time. */
const [MAX_LOOKED_AT, AT_ONCE] = [1_000, 20];

/** How the ids of our workflows begin; a reconciliation has its search attributes from its first task on. */
const KINDS = ['order', 'received', 'bulk', 'bulk-plan', 'scheduled', 'address', 'read'];

/** Open workflows whose workflow task keeps failing: none of them goes on. `isComplete` false: more are open than were looked at. */
export interface StuckRuns {
  runs: AttentionElsewhere[];
  isComplete: boolean;
}

/**
 * True for an open run that cannot go on: no code of ours runs in it, so that it raises no attention itself. Temporal's list
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

/** Orders, batches and all others that are stuck, of the 1,000 newest open ones: seconds at most. */
export function stuckRuns(client: Client, account?: string): Promise<StuckRuns> {
  const ofAccount = [
    `${searchAttribute.account.name} = ${quoted(account ?? '')}`,
    // A start by hand has no search attributes of its own, and one that is stuck never gets them.
    ...KINDS.map((kind) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`),
  ].join(' OR ');
  const query = `ExecutionStatus = 'Running'${account === undefined ? '' : ` AND (${ofAccount})`}`;
  return callTemporal(client, async () => {
    const open: WorkflowExecutionInfo[] = [];
    for await (const info of client.workflow.list({ query, pageSize: 1000 })) {
      open.push(info);
      if (open.length > MAX_LOOKED_AT) break;
    }
    const runs: AttentionElsewhere[] = [];
    for (let start = 0; start < Math.min(open.length, MAX_LOOKED_AT); start += AT_ONCE) {
      const some = open.slice(start, Math.min(start + AT_ONCE, MAX_LOOKED_AT));
      const stuck = await Promise.all(some.map((info) => isStuck(client, info)));
      runs.push(
        ...some
          .filter((_, at) => stuck[at])
          .map(({ workflowId, type, startTime }) => ({ workflowId, type, startedAt: startTime })),
      );
    }
    return { runs, isComplete: open.length <= MAX_LOOKED_AT };
  });
}
