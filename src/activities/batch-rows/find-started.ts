import type { Client } from '@temporalio/client';
import type { BatchRow } from '../../batch-files/index.js';
import type { BatchProgress } from '../../contract/batches.js';
import { orderWorkflowId } from '../../contract/ids.js';
import { countStarted, countTaken } from './count.js';
import { describeOrder } from './order-ends.js';
import type { RowReader } from './row-reader.js';
import { type Batch, type StartedRow, startedBy } from './start-row.js';

/** Several times what is started at once: behind so many rows without an order there is none. */
const ROWS_A_LOOK = 100;
const LOOKS_AT_ONCE = 20;

/**
 * After a stop: opens the rows that were started by an attempt whose answer never arrived (its worker died), so that they
 * are followed, too. Nothing is started; all other rows stay as not started. Ends early when it may not go on.
 */
export async function findStarted(
  client: Client,
  batch: Batch,
  progress: BatchProgress,
  reader: RowReader,
  mayGoOn: () => Promise<boolean>,
): Promise<void> {
  for (let behind = 0; behind < ROWS_A_LOOK; ) {
    const rows = await reader.next(LOOKS_AT_ONCE);
    const found = await Promise.all(rows.map((row) => startedOrder(client, batch, row)));
    for (const started of found) if (started) countStarted(progress, started);
    countTaken(progress, rows);
    behind = found.some(Boolean) ? 0 : behind + LOOKS_AT_ONCE;
    if (!(await mayGoOn())) return;
  }
  progress.exhausted = true;
}

async function startedOrder(client: Client, batch: Batch, { row, order }: BatchRow): Promise<StartedRow | undefined> {
  const orderId = typeof order === 'object' && order !== null && 'order_id' in order ? order.order_id : undefined;
  if (typeof orderId !== 'string') return undefined;
  const found = await describeOrder(client, orderWorkflowId(batch.account, orderId));
  return found && startedBy(batch, found) ? { row, orderId, standing: { kind: 'open' } } : undefined;
}
