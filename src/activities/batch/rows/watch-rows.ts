import { OrderHandle } from '../../../client/order-handle.js';
import { readStanding, type Standing } from '../../../client/standing.js';
import { callTemporal } from '../../../client/temporal-calls.js';
import type { BatchProgress, ListLook, OpenRow } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { mapInOrder } from '../../paced-reads.js';
import { countEnd, countParked } from './count.js';
import type { BatchWork } from './start-row.js';

/** Orders read at the same time. */
const READS_AT_ONCE = 20;
/** Rows looked at one by one: attached ones, which the list need not show, and own ones, which it shows late and may miss. */
const LOOKS = { attached: 20, own: 20, ownWhileQuiet: 5 };

const isAttached = ({ elsewhere }: OpenRow): boolean => elsewhere === true;

/**
 * Counts open rows that are final or parked, and notes the uncertain ones: those that Temporal's list shows, where it may be
 * asked, and a few in turn. `quiet`: nothing ended lately, so that the few are fewer.
 */
export async function watchRows(work: BatchWork, { quiet = false } = {}): Promise<void> {
  if (isListDue(work.progress) && work.progress.open.some((open) => !isAttached(open))) await lookAtListed(work);
  const { progress } = work;
  await lookInTurn(work, progress.open.filter(isAttached).slice(0, LOOKS.attached));
  const own = progress.open.filter((row) => !isAttached(row));
  let most = quiet ? LOOKS.ownWhileQuiet : LOOKS.own;
  while (own.length > 0) {
    const rows = own.splice(0, most);
    await lookInTurn(work, rows);
    // Rows end about in the order in which they began: where some of these did, the next ones may have as well.
    const ended = rows.filter((row) => !progress.open.includes(row));
    if (ended.length < rows.length / 4) break;
    most = LOOKS.own;
  }
}

/** Looks at what the list shows, and at what was uncertain and may have gone on since. */
async function lookAtListed(work: BatchWork): Promise<void> {
  const { progress } = work;
  const { shown, listed } = await listMoved(work);
  const moved = (open: OpenRow) => progress.uncertain?.includes(open.row) || shown.has(workflowIdOf(work, open));
  await lookAt(
    work,
    progress.open.filter((open) => !isAttached(open) && moved(open)),
  );
  progress.listed = listed;
}

/** Looks at some rows and puts them behind the others, which come next time. */
async function lookInTurn(work: BatchWork, rows: readonly OpenRow[]): Promise<void> {
  const { progress } = work;
  progress.open = [...progress.open.filter((open) => !rows.includes(open)), ...rows];
  await lookAt(work, rows);
}

async function lookAt(work: BatchWork, rows: readonly OpenRow[]): Promise<void> {
  const read = async (open: OpenRow) => {
    const standing = await readStanding(work.client, workflowIdOf(work, open));
    const isParked = standing.kind === 'open' && standing.waits === 'parked';
    return { open, standing, ...(isParked && { parked: { unsettled: await isUnsettled(work, open) } }) };
  };
  for await (const { open, standing, parked } of mapInOrder(rows, READS_AT_ONCE, read)) {
    noteUncertain(work.progress, open, standing);
    if (parked) countParked(work.progress, open, parked.unsettled);
    else countEnd(work.progress, open, standing);
  }
}

const workflowIdOf = ({ batch }: BatchWork, { orderId }: OpenRow): string => orderWorkflowId(batch.account, orderId);

function noteUncertain(progress: BatchProgress, { row }: OpenRow, standing: Standing): void {
  const others = (progress.uncertain ?? []).filter((other) => other !== row);
  const isUncertain = standing.kind === 'open' && standing.waits === 'uncertain';
  progress.uncertain = isUncertain ? [...others, row] : others;
}

/** Returns true when an order was parked because nobody knows whether it exists: it could still be closed as absent. */
async function isUnsettled({ client, batch }: BatchWork, { orderId }: OpenRow): Promise<boolean> {
  try {
    const { attention } = await new OrderHandle(client, batch.account, orderId).state();
    return attention?.allowed.includes('close-absent') === true;
  } catch {
    // Nobody to ask: one pause too many does less harm than one too few.
    return true;
  }
}

/** Between two calls of Temporal's list: a hosted namespace allows 30 a second, to all its batches and people together. */
const CALLS_APART_MS = 5_000;
/** Rows of one call, the most that the server gives. */
const PAGE = 1_000;
/** Closed rows are not listed in the order of their ends: what closed so long before the last one shown is shown once more. */
const OVERLAP_MS = 10_000;

/** Returns true where the list may be asked again: one that took more calls must wait longer. A clock that was set back counts for nothing. */
function isListDue({ listed }: BatchProgress): boolean {
  if (!listed) return true;
  const sinceMs = Date.now() - Date.parse(listed.askedAt);
  return sinceMs < 0 || sinceMs >= CALLS_APART_MS * listed.calls;
}

/**
 * Workflow ids of a batch's rows that closed since the list was last asked, or that are parked or uncertain: one question,
 * whose answers are only hints where to look.
 */
async function listMoved(work: BatchWork): Promise<{ shown: Set<string>; listed: ListLook }> {
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
