import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { BatchInput } from '../../contract/batch/batch.js';
import { MAX_ROW_PAGE, type RowId } from '../../contract/batch/files.js';
import type { FieldError } from '../../contract/failures.js';
import { orderWorkflowId, quoted } from '../../contract/names.js';
import { maskWallets } from '../../contract/wallets.js';
import { refuseUnknown } from '../bounded.js';
import { InvalidInputError } from '../errors.js';
import { toEntry } from '../list-orders.js';
import { allRuns } from '../pages.js';
import { askAboutFiles } from '../service-calls.js';

/** Row of a batch (from 1) and its order's state in Temporal, up to a few seconds old. */
export interface BatchRowEntry extends RowId {
  /** `notStarted`, or the status of the order as `orders.list` shows it. */
  state: string;
  /** A person should look at the order. */
  needsAttention: boolean;
  /** Batch that started the order. If another or none, the order existed before. */
  batchId?: string;
  closedAt?: Date;
}

/** One page of rows; the last one has no cursor. */
export interface BatchRowPage {
  rows: BatchRowEntry[];
  cursor?: string;
}

/** Selects a page. Default `limit`: 100; maximum: 500. `cursor`: of the page before. */
export interface BatchRowFilter {
  cursor?: string | undefined;
  limit?: number | undefined;
}

function checkedFilter({ cursor = '0', limit = 100, ...others }: BatchRowFilter): { after: number; limit: number } {
  refuseUnknown(others);
  const errors: FieldError[] = [];
  if (!/^\d{1,6}$/.test(cursor)) errors.push({ field: 'cursor', reason: 'must be the cursor of the page before' });
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROW_PAGE) {
    errors.push({ field: 'limit', reason: `must be a whole number from 1 to ${MAX_ROW_PAGE}` });
  }
  if (errors.length > 0) throw new InvalidInputError(errors);
  return { after: Number(cursor), limit };
}

/** Returns one page of the rows of a batch that was started with `input`. */
export async function batchRows(
  client: Client,
  account: string,
  { file, rows = [] }: Pick<BatchInput, 'file' | 'rows'>,
  filter: BatchRowFilter,
): Promise<BatchRowPage> {
  const { after, limit } = checkedFilter(filter);
  const inline = (): RowId[] =>
    rows.slice(after).map(({ order_id: id, reference }, index) => ({
      ...{ row: after + index + 1, orderId: maskWallets(String(id)) },
      ...(reference && { reference }),
    }));
  const found = file
    ? await askAboutFiles<RowId[]>(client, { act: 'rows', account, file, after, limit })
    : inline().slice(0, limit + 1);
  const page = found.slice(0, limit);
  const newest = await newestRuns(
    client,
    page.flatMap(({ orderId }) => (orderId === undefined ? [] : [orderWorkflowId(account, orderId)])),
  );
  const entries = page.map((shown): BatchRowEntry => {
    const { orderId } = shown;
    const run = orderId === undefined ? undefined : newest.get(orderWorkflowId(account, orderId));
    const entry = run && toEntry(run);
    if (!entry) return { ...shown, state: 'notStarted', needsAttention: false };
    const { status: state = 'open', needsAttention, closedAt, batchId } = entry;
    return { ...shown, state, needsAttention, ...(batchId && { batchId }), ...(closedAt && { closedAt }) };
  });
  return { rows: entries, ...(found.length > limit && { cursor: `${page.at(-1)?.row}` }) };
}

/** Returns the newest run of each workflow id that has one. At most 500 ids. */
export async function newestRuns(client: Client, ids: readonly string[]): Promise<Map<string, WorkflowExecutionInfo>> {
  const newest = new Map<string, WorkflowExecutionInfo>();
  if (ids.length === 0) return newest;
  const query = `WorkflowId IN (${ids.map(quoted).join(', ')})`;
  for await (const run of allRuns(client, query)) {
    const known = newest.get(run.workflowId);
    if (!known || known.startTime < run.startTime) newest.set(run.workflowId, run);
  }
  return newest;
}
