import { WorkflowNotFoundError } from '@temporalio/client';
import { type BatchRow, nextOf } from '../../../batch-files/source.js';
import { OrderHandle } from '../../../client/order-handle.js';
import { describeRun, readEnd, readStanding, standingOfRun } from '../../../client/standing.js';
import { callTemporal } from '../../../client/temporal-calls.js';
import type { OpenRow } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import type { Attention } from '../../../contract/order/messages.js';
import { mapInOrder } from '../../paced-reads.js';
import { countEnd, countParked, countStarted, countTaken, isTaken } from './count.js';
import { ROWS_TO_CHOOSE_FROM } from './smallest.js';
import { type BatchWork, isOfBatch, type StartedRow, startedBy } from './start-row.js';

/** Orders that are read at the same time, and minimum per look. */
const READS_AT_ONCE = 20;
/** Looks within which every open row is read. */
const LOOKS_AT_ALL = 10;

/** Reads open rows in turn, counts final and parked ones, and records uncertain ones. */
export async function watchRows(work: BatchWork): Promise<void> {
  const { progress } = work;
  const waiting = [...progress.open];
  const most = Math.max(READS_AT_ONCE, Math.ceil(waiting.length / LOOKS_AT_ALL));
  while (waiting.length > 0) {
    const rows = waiting.splice(0, most);
    // Rows that were read move behind the others.
    progress.open = [...progress.open.filter((open) => !rows.includes(open)), ...rows];
    await lookAt(work, rows);
    // Rows end roughly in their order: if some of these ended, the next ones may have, too.
    const ended = rows.filter((row) => !progress.open.includes(row));
    if (ended.length < rows.length / 4) return;
  }
}

async function lookAt({ client, batch, progress }: BatchWork, rows: readonly OpenRow[]): Promise<void> {
  const read = async (open: OpenRow) => {
    const standing = await readStanding(client, orderWorkflowId(batch.account, open.orderId));
    const waits = standing.kind === 'open' ? standing.waits : undefined;
    const attention = waits === 'parked' ? await attentionOf(client, batch.account, open) : undefined;
    return { open, standing, waits, attention };
  };
  for await (const { open, standing, waits, attention } of mapInOrder(rows, READS_AT_ONCE, read)) {
    const others = (progress.uncertain ?? []).filter((row) => row !== open.row);
    progress.uncertain = waits === 'uncertain' ? [...others, open.row] : others;
    // One whose reason cannot be read stays as it was.
    const isParkedShort = attention ? attention.code === 'short-of-funds' : progress.short?.includes(open.row);
    const isShort = waits === 'short' || (waits === 'parked' && isParkedShort === true);
    if (isShort || progress.short) progress.short = withRow(progress.short, open.row, isShort);
    // A person's decision lets it wait or sends it, so it is followed.
    if (isShort) continue;
    // An unnecessary pause does less harm than a missing one.
    if (waits === 'parked') countParked(progress, open, attention?.allowed.includes('close-absent') ?? true);
    else countEnd(progress, open, standing);
  }
}

/**
 * Cancels rows that wait for funds, of which nothing was sent, after a stop: all that the batch or
 * an earlier run of it started and that have not ended.
 */
export async function cancelShort({ client, batch, progress }: BatchWork): Promise<void> {
  for (const { row, orderId } of progress.open) {
    if (!progress.short?.includes(row)) continue;
    const workflowId = orderWorkflowId(batch.account, orderId);
    const found = await describeRun(client, workflowId);
    if (found?.status.name !== 'RUNNING' || !isOfBatch(batch, found)) continue;
    // One that ends meanwhile must not keep the others from being cancelled.
    await callTemporal(client, () => client.workflow.getHandle(workflowId).cancel()).catch(ifEnded);
  }
}

const ifEnded = (error: unknown): void => {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
};

const withRow = (rows: readonly number[] = [], row: number, isIn: boolean): number[] =>
  [...rows.filter((other) => other !== row), ...(isIn ? [row] : [])].sort((a, b) => a - b);

/** Returns why an order is parked; undefined if that cannot be read. */
async function attentionOf(
  client: BatchWork['client'],
  account: string,
  { orderId }: OpenRow,
): Promise<Pick<Attention, 'code' | 'allowed'> | undefined> {
  try {
    const { attention } = await new OrderHandle(client, account, orderId).state();
    return attention ?? { code: 'not-sent', allowed: [] };
  } catch {
    return undefined;
  }
}

const LOOKS_AT_ONCE = 20;
/** After this many rows without an order of this batch, none was started, not even ahead. */
const MOST_WITHOUT = ROWS_TO_CHOOSE_FROM;

/** Counts started rows that were not counted. Returns false if the batch may not continue. */
export async function takeStarted(
  work: BatchWork,
  next: Iterator<BatchRow>,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  const { batch, progress } = work;
  const isStopped = batch.mode === 'finish';
  let without = 0;
  for (;;) {
    const read = nextOf(next, LOOKS_AT_ONCE);
    const rows = read.filter(({ row }) => !isTaken(progress, row));
    const own = await Promise.all(rows.map((row) => lookUp(work, row)));
    // Otherwise the next start belongs to the first gap.
    const end = isStopped ? own.length : [...own, undefined].indexOf(undefined);
    const found = own.slice(0, end).flatMap((one) => one ?? []);
    for (const started of found) countStarted(progress, started);
    countTaken(
      progress,
      rows.filter(({ row }) => found.some((one) => one.row === row)),
    );
    without = found.length > 0 ? 0 : without + rows.length;
    const isOver = isStopped ? without >= MOST_WITHOUT : end < rows.length;
    if (isOver || read.length < LOOKS_AT_ONCE) break;
    // Many parked rows must not enlarge the progress.
    if (progress.open.length >= LOOKS_AT_ONCE) await watchRows(work);
    if (!(await mayContinue())) return false;
  }
  progress.exhausted = isStopped || progress.taken >= batch.plan.rows;
  return true;
}

/**
 * Returns the row's order if this batch started it. The batch may have attached to any other order
 * of the id.
 */
async function lookUp({ client, batch }: BatchWork, { row, order }: BatchRow): Promise<StartedRow | undefined> {
  const orderId = typeof order === 'object' && order !== null && 'order_id' in order ? order.order_id : undefined;
  if (typeof orderId !== 'string') return undefined;
  const found = await describeRun(client, orderWorkflowId(batch.account, orderId));
  if (!found || !startedBy(batch, found)) return undefined;
  const standing = standingOfRun(found) ?? (await readEnd(client, found.workflowId, found.runId));
  return { row, orderId, standing };
}
