import type { Client } from '@temporalio/client';
import { BULK_WITHDRAW_WORKFLOW, parseBatchWorkflowId, quoted } from '../contract/names.js';
import { InvalidInputError } from './errors.js';
import { attentionIn, firstOf, type ListedAttention } from './list-orders.js';
import { filterErrors, STOPPED } from './order-filter.js';
import { standingOfRun } from './standing.js';

const DEFAULT_LIMIT = 20;

/** Which batches to list; fields are combined with "and". */
export interface BatchFilter {
  account?: string;
  /** Only those that have not ended. */
  open?: boolean;
  /** At most this many, newest first; 20 when omitted. */
  limit?: number;
}

/** A batch as Temporal's visibility shows it: a few seconds old at most, and without asking a worker. */
export interface BatchListEntry {
  batchId: string;
  account: string;
  workflowId: string;
  /** `open`; `completed` also where rows were not paid: its result says that; `failed`; `stopped` when its workflow was terminated. */
  status: 'open' | 'completed' | 'failed' | typeof STOPPED;
  attention?: ListedAttention;
  /** When its newest run started: a long batch is continued by run after run. */
  startedAt: Date;
  closedAt?: Date;
}

/** The visibility query of a filter. A plan has another id, and a run that was continued has a newer one. */
function batchQuery({ account, open }: BatchFilter): string {
  return [
    `WorkflowType = ${quoted(BULK_WITHDRAW_WORKFLOW)}`,
    `WorkflowId STARTS_WITH ${quoted(account === undefined ? 'bulk:' : `bulk:${account}:`)}`,
    open ? "ExecutionStatus = 'Running'" : "ExecutionStatus != 'ContinuedAsNew'",
  ].join(' AND ');
}

function statusOf(info: Parameters<typeof standingOfRun>[0]): BatchListEntry['status'] {
  const kind = standingOfRun(info)?.kind;
  if (kind !== undefined) return kind === 'open' ? 'open' : STOPPED;
  return info.status.name === 'COMPLETED' ? 'completed' : 'failed';
}

/** Batches that fit the filter, newest first. Throws InvalidInputError. */
export async function listBatches(client: Client, filter: BatchFilter): Promise<BatchListEntry[]> {
  const errors = filterErrors({ account: filter.account, limit: filter.limit });
  if (errors.length > 0) throw new InvalidInputError(errors);
  return firstOf(client, batchQuery(filter), filter.limit ?? DEFAULT_LIMIT, (info) => {
    const named = parseBatchWorkflowId(info.workflowId);
    if (!named) return undefined;
    const attention = attentionIn(info);
    return {
      ...named,
      workflowId: info.workflowId,
      status: statusOf(info),
      ...(attention && { attention }),
      startedAt: info.startTime,
      ...(info.closeTime && { closedAt: info.closeTime }),
    };
  });
}
