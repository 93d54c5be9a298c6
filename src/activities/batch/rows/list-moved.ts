import { callTemporal } from '../../../client/temporal-calls.js';
import type { BatchProgress, ListLook } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import type { BatchWork } from './start-row.js';

/** Between two calls of Temporal's list: a hosted namespace allows 30 a second, to all its batches and people together. */
const CALLS_APART_MS = 5_000;
/** Rows of one call, the most that the server gives. */
const PAGE = 1_000;
/** Closed rows are not listed in the order of their ends: what closed so long before the last one shown is shown once more. */
const OVERLAP_MS = 10_000;

/** True where the list may be asked again: one that took more calls must wait longer. A clock that was set back counts for nothing. */
export function isListDue({ listed }: BatchProgress): boolean {
  if (!listed) return true;
  const sinceMs = Date.now() - Date.parse(listed.askedAt);
  return sinceMs < 0 || sinceMs >= CALLS_APART_MS * listed.calls;
}

/**
 * Workflow ids of a batch's rows that closed since the list was last asked, or that are parked or uncertain: one question,
 * whose answers are only hints where to look.
 */
export async function listMoved(work: BatchWork): Promise<{ shown: Set<string>; listed: ListLook }> {
  const { client, batch, progress } = work;
  const askedAt = new Date().toISOString();
  let closedUntilMs = Date.parse(progress.listed?.closedUntil ?? batch.startedAt);
  const query = queryFor(work, new Date(closedUntilMs - OVERLAP_MS).toISOString());
  const shown = new Set<string>();
  let rows = 0;
  await callTemporal(client, async () => {
    for await (const { workflowId, closeTime } of client.workflow.list({ query, pageSize: PAGE })) {
      shown.add(workflowId);
      rows += 1;
      // By the server's own times: whatever a worker's clock says, and however late the list is, nothing is skipped.
      closedUntilMs = Math.max(closedUntilMs, closeTime?.getTime() ?? 0);
    }
  });
  const calls = Math.floor(rows / PAGE) + 1;
  return { shown, listed: { askedAt, calls, closedUntil: new Date(closedUntilMs).toISOString() } };
}

function queryFor({ batch: { account, input } }: BatchWork, since: string): string {
  // The account by its workflow ids: beside a second attribute a database without statistics may take the index of the account.
  const ofBatch = `PaymentBatchId = '${input.batchId}' AND WorkflowId STARTS_WITH '${orderWorkflowId(account, '')}'`;
  const closed = `ExecutionStatus != 'Running' AND CloseTime >= '${since}'`;
  const odd = `ExecutionStatus = 'Running' AND PaymentOrderStatus IN ('parked', 'uncertain')`;
  return `${ofBatch} AND ((${closed}) OR (${odd}))`;
}
