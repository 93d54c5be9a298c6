import type { Client } from '@temporalio/client';
import { OrderHandle } from '../../client/order-handle.js';
import { callTemporal } from '../../client/temporal-calls.js';
import type { BatchProgress, OpenRow } from '../../contract/batches.js';
import { orderWorkflowId } from '../../contract/ids.js';
import { searchAttribute } from '../../contract/search-attributes.js';
import { countFinal, countLost, countNone, countParked } from './count.js';
import { readOrderEnd } from './order-ends.js';

/** Ids in one query of Temporal's list. */
const IDS_A_QUERY = 100;
/** Ends read at the same time. */
const READS_AT_ONCE = 20;

/** What the list tells about open rows, by workflow id: closed, parked, or uncertain. Plain open ones are not in it. */
type News = Map<string, 'closed' | 'parked' | 'uncertain'>;

/**
 * Looks after the open rows: counts those that are final or parked, and answers the rows that are uncertain right now.
 * The list, asked for all of them at once, only says where to look; every verdict is read from the order itself.
 */
export async function watchRows(client: Client, account: string, progress: BatchProgress): Promise<number[]> {
  const news: News = new Map();
  for (const open of inGroups(progress.open, IDS_A_QUERY)) {
    await list(
      client,
      open.map(({ orderId }) => orderWorkflowId(account, orderId)),
      news,
    );
  }
  const of = (kind: string) =>
    progress.open.filter(({ orderId }) => news.get(orderWorkflowId(account, orderId)) === kind);
  const uncertain = of('uncertain').map(({ row }) => row);
  const [closed, parked] = [of('closed'), of('parked')];
  for (const open of inGroups(closed, READS_AT_ONCE)) {
    await Promise.all(open.map((row) => countClosed(client, account, progress, row)));
  }
  for (const row of parked) countParked(progress, row, await isUnsettled(client, account, row));
  return uncertain;
}

async function list(client: Client, workflowIds: readonly string[], news: News): Promise<void> {
  // Ids hold neither quotes nor backslashes: see ORDER_ID_FORMAT and ACCOUNT_FORMAT.
  const ids = workflowIds.map((id) => `'${id}'`).join(', ');
  const query = `WorkflowId IN (${ids}) AND (ExecutionStatus != 'Running' OR PaymentOrderStatus IN ('parked', 'uncertain'))`;
  await callTemporal(client, async () => {
    for await (const { workflowId, status, typedSearchAttributes } of client.workflow.list({ query })) {
      const shown = typedSearchAttributes.get(searchAttribute.orderStatus);
      // A run before `again` is closed and says nothing about the one that is open.
      if (status.name !== 'RUNNING') news.set(workflowId, news.get(workflowId) ?? 'closed');
      else news.set(workflowId, shown === 'parked' ? 'parked' : 'uncertain');
    }
  });
}

async function countClosed(client: Client, account: string, progress: BatchProgress, row: OpenRow): Promise<void> {
  const end = await callTemporal(client, () => readOrderEnd(client, orderWorkflowId(account, row.orderId)));
  switch (end.kind) {
    case 'open':
      return;
    case 'final':
      return countFinal(progress, row, end.result);
    case 'none':
      return countNone(progress, row, end.outcome);
    case 'lost':
      return countLost(progress, row, end.reason);
  }
}

/** True when an order was parked because nobody knows whether it exists: it could still be closed as absent. */
async function isUnsettled(client: Client, account: string, { orderId }: OpenRow): Promise<boolean> {
  try {
    const { attention } = await new OrderHandle(client, account, orderId).state();
    return attention?.allowed.includes('close-absent') ?? false;
  } catch {
    // Nobody to ask: one stop too many does less harm than one too few.
    return true;
  }
}

function* inGroups<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let begin = 0; begin < items.length; begin += size) yield items.slice(begin, begin + size);
}
