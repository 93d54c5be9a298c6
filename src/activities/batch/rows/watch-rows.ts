import { OrderHandle } from '../../../client/order-handle.js';
import { readStanding, type Standing, standingOfRun } from '../../../client/standing.js';
import { callTemporal } from '../../../client/temporal-calls.js';
import type { OpenRow } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { mapInOrder } from '../../paced-reads.js';
import { countEnd, countParked } from './count.js';
import type { BatchWork } from './start-row.js';

/** Rows of one answer of Temporal's list; behind so many that are known already, nothing new is looked for. */
const PAGE = 20;
/** Orders read at the same time. */
const READS_AT_ONCE = 20;
/** Rows looked at one by one: those the list need not show, and some it may have missed. */
const LOOKS = { attached: 20, own: 2 };

const isAttached = ({ elsewhere }: OpenRow): boolean => elsewhere === true;

/** Counts open rows that are final or parked, and answers the uncertain ones; Temporal's list says where to look. */
export async function watchRows(work: BatchWork): Promise<OpenRow[]> {
  const { progress } = work;
  const ownRows = progress.open.filter((open) => !isAttached(open));
  const own = new Map(ownRows.map((open) => [workflowIdOf(work, open), open]));
  const readClosed = async (open: OpenRow) => ({
    open,
    standing: await readStanding(work.client, workflowIdOf(work, open)),
  });
  const uncertain: OpenRow[] = [];
  if (own.size > 0) {
    for await (const { open, standing } of mapInOrder(await closedOf(work, own), READS_AT_ONCE, readClosed)) {
      await note(work, open, standing);
    }
    for (const { open, standing } of await oddOnes(work, own)) {
      if (isUncertain(standing)) uncertain.push(open);
      else await note(work, open, standing);
    }
  }
  return [...uncertain, ...(await lookOneByOne(work))];
}

const isUncertain = (standing: Standing): boolean => standing.kind === 'open' && standing.waits === 'uncertain';

const workflowIdOf = ({ batch }: BatchWork, { orderId }: OpenRow): string => orderWorkflowId(batch.account, orderId);

/** Own rows that the list shows as closed. It begins with those closed last. */
async function closedOf({ client, batch }: BatchWork, own: ReadonlyMap<string, OpenRow>): Promise<OpenRow[]> {
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
async function oddOnes({ client, batch }: BatchWork, own: ReadonlyMap<string, OpenRow>) {
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
async function lookOneByOne(work: BatchWork): Promise<OpenRow[]> {
  const { client, progress } = work;
  const looked = [
    ...progress.open.filter(isAttached).slice(0, LOOKS.attached),
    ...progress.open.filter((open) => !isAttached(open)).slice(0, LOOKS.own),
  ];
  // To the end, so that the others come next time.
  progress.open = [...progress.open.filter((open) => !looked.includes(open)), ...looked];
  const uncertain = await Promise.all(
    looked.map(async (open) => {
      const standing = await readStanding(client, workflowIdOf(work, open));
      await note(work, open, standing);
      return isUncertain(standing) ? [open] : [];
    }),
  );
  return uncertain.flat();
}

async function note(work: BatchWork, open: OpenRow, standing: Standing): Promise<void> {
  const { progress } = work;
  const isParked = standing.kind === 'open' && standing.waits === 'parked';
  if (standing.kind === 'open' && !isParked) return;
  const unsettled = isParked && (await isUnsettled(work, open));
  // The list is a little late: what it shows may have been counted a moment ago.
  if (!progress.open.includes(open)) return;
  if (isParked) countParked(progress, open, unsettled);
  else countEnd(progress, open, standing);
}

/** True when an order was parked because nobody knows whether it exists: it could still be closed as absent. */
async function isUnsettled({ client, batch }: BatchWork, { orderId }: OpenRow): Promise<boolean> {
  try {
    const { attention } = await new OrderHandle(client, batch.account, orderId).state();
    return attention?.allowed.includes('close-absent') === true;
  } catch {
    // Nobody to ask: one pause too many does less harm than one too few.
    return true;
  }
}
