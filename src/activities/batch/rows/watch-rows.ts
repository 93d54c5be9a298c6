import type { Client } from '@temporalio/client';
import { OrderHandle } from '../../../client/order-handle.js';
import { readEnd, readStanding, type Standing, standingOfRun } from '../../../client/standing.js';
import { callTemporal } from '../../../client/temporal-calls.js';
import type { BatchProgress, OpenRow } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { countEnd, countParked } from './count.js';
import type { Batch } from './start-row.js';

/** Rows of one answer of Temporal's list; behind so many that are known already, nothing new is looked for. */
const PAGE = 20;
/** Orders read at the same time. */
const READS_AT_ONCE = 20;
/** Rows looked at one by one: those the list need not show, and some it may have missed. */
const LOOKS = { elsewhere: 20, own: 2 };

/**
 * Looks after the open rows: counts those that are final or parked, and answers the rows that are uncertain right now.
 * Temporal's list says where to look, which costs little however many rows there are; every verdict is read from the
 * order itself.
 */
export async function watchRows(client: Client, batch: Batch, progress: BatchProgress): Promise<OpenRow[]> {
  const own = new Map(
    progress.open
      .filter(({ elsewhere }) => !elsewhere)
      .map((open) => [orderWorkflowId(batch.account, open.orderId), open]),
  );
  const uncertain: OpenRow[] = [];
  for (const closed of inGroups(await closedOf(client, batch, own), READS_AT_ONCE)) {
    await Promise.all(
      closed.map(async (open) => note(client, batch, progress, open, await readEndOf(client, batch, open))),
    );
  }
  for (const { open, standing } of own.size > 0 ? await oddOnes(client, batch, own) : []) {
    if (isUncertain(standing)) uncertain.push(open);
    else await note(client, batch, progress, open, standing);
  }
  return [...uncertain, ...(await lookOneByOne(client, batch, progress))];
}

const isUncertain = (standing: Standing): boolean => standing.kind === 'open' && standing.waits === 'uncertain';

const readEndOf = (client: Client, { account }: Batch, { orderId }: OpenRow): Promise<Standing> =>
  readEnd(client, orderWorkflowId(account, orderId));

/** Own rows that the list shows as closed. It begins with those closed last. */
async function closedOf(client: Client, batch: Batch, own: Map<string, OpenRow>): Promise<OpenRow[]> {
  if (own.size === 0) return [];
  return callTemporal(client, async () => {
    const closed: OpenRow[] = [];
    let known = 0;
    const query = `PaymentBatchId = '${batch.input.batchId}' AND ExecutionStatus != 'Running'`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: PAGE })) {
      const open = own.get(workflowId);
      known = open ? 0 : known + 1;
      if (open) closed.push(open);
      if (known >= PAGE || closed.length === own.size) break;
    }
    return closed;
  });
}

/** Own rows that wait for a person, or whose create is uncertain. */
async function oddOnes(client: Client, batch: Batch, own: Map<string, OpenRow>) {
  // Without the account: one more condition would keep the list from using the index of the batch id.
  const query = `PaymentBatchId = '${batch.input.batchId}' AND ExecutionStatus = 'Running' AND PaymentOrderStatus IN ('parked', 'uncertain')`;
  return callTemporal(client, async () => {
    const odd: { open: OpenRow; standing: Standing }[] = [];
    for await (const info of client.workflow.list({ query })) {
      const [open, standing] = [own.get(info.workflowId), standingOfRun(info)];
      if (open && standing) odd.push({ open, standing });
    }
    return odd;
  });
}

/** Looks at a few rows in turn and answers those that are uncertain. */
async function lookOneByOne(client: Client, batch: Batch, progress: BatchProgress): Promise<OpenRow[]> {
  const looked = [
    ...progress.open.filter(({ elsewhere }) => elsewhere).slice(0, LOOKS.elsewhere),
    ...progress.open.filter(({ elsewhere }) => !elsewhere).slice(0, LOOKS.own),
  ];
  // To the end, so that the others come next time.
  progress.open = [...progress.open.filter((open) => !looked.includes(open)), ...looked];
  const uncertain = await Promise.all(
    looked.map(async (open) => {
      const standing = await readStanding(client, orderWorkflowId(batch.account, open.orderId));
      await note(client, batch, progress, open, standing);
      return isUncertain(standing) ? [open] : [];
    }),
  );
  return uncertain.flat();
}

async function note(
  client: Client,
  batch: Batch,
  progress: BatchProgress,
  open: OpenRow,
  standing: Standing,
): Promise<void> {
  const isParked = standing.kind === 'open' && standing.waits === 'parked';
  if (standing.kind === 'open' && !isParked) return;
  const unsettled = isParked && (await isUnsettled(client, batch, open));
  // The list is a little late: what it shows may have been counted a moment ago.
  if (!progress.open.includes(open)) return;
  if (isParked) countParked(progress, open, unsettled);
  else countEnd(progress, open, standing);
}

/** True when an order was parked because nobody knows whether it exists: it could still be closed as absent. */
async function isUnsettled(client: Client, { account }: Batch, { orderId }: OpenRow): Promise<boolean> {
  try {
    const { attention } = await new OrderHandle(client, account, orderId).state();
    return attention?.allowed.includes('close-absent') === true;
  } catch {
    // Nobody to ask: one pause too many does less harm than one too few.
    return true;
  }
}

function* inGroups<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let begin = 0; begin < items.length; begin += size) yield items.slice(begin, begin + size);
}
