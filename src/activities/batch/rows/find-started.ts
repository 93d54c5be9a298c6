import type { BatchRow } from '../../../batch-files/source.js';
import { describeRun, readEnd, standingOfRun } from '../../../client/standing.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { countStarted, countTaken } from './count.js';
import type { RowReader } from './row-reader.js';
import { type BatchWork, type StartedRow, startedBy } from './start-row.js';
import { watchRows } from './watch-rows.js';

/** After so many rows without an order, several times what is started at once, none further on was started. */
const ROWS_A_LOOK = 100;
const LOOKS_AT_ONCE = 20;
/** Stop after so many rows behind the last started one: one lost chunk cannot have attached to more. */
const MOST_BEHIND = 2_000;

/** Whether the look may go on, asked between two groups of rows. */
type MayGoOn = () => Promise<boolean>;

/**
 * After a stop: opens the rows that were started by an attempt whose answer never arrived (its worker died), so that they
 * are followed, too. Nothing is started; all other rows stay as not started. Ends early when it may not go on.
 */
export async function findStarted(work: BatchWork, reader: RowReader, mayGoOn: MayGoOn): Promise<void> {
  const { progress } = work;
  const behind: BatchRow[] = [];
  for (let unknown = 0; unknown < ROWS_A_LOOK && behind.length < MOST_BEHIND; ) {
    const rows = await reader.next(LOOKS_AT_ONCE);
    const looks = await Promise.all(rows.map((row) => lookUp(work, row)));
    for (const { own } of looks) if (own) countStarted(progress, own);
    unknown = looks.some(({ exists }) => exists) ? 0 : unknown + LOOKS_AT_ONCE;
    // Only up to the last order of its own: the rows behind it were not taken, and are reported as not started.
    const last = looks.findLastIndex(({ own }) => own);
    if (last >= 0) countTaken(progress, [...behind.splice(0), ...rows.slice(0, last + 1)]);
    behind.push(...rows.slice(last + 1));
    if (rows.length < LOOKS_AT_ONCE) break;
    if (!(await mayGoOn())) return;
  }
  progress.exhausted = true;
}

/**
 * In a run that was reset: takes the rows that were started before it, up to the first that this batch did not start
 * itself. Whatever lies behind is attached to when its turn comes. False when it may not go on, and is not through.
 */
export async function takeStarted(work: BatchWork, reader: RowReader, mayGoOn: MayGoOn): Promise<boolean> {
  const { progress } = work;
  for (;;) {
    const rows = await reader.next(LOOKS_AT_ONCE);
    const looks = await Promise.all(rows.map((row) => lookUp(work, row)));
    const other = looks.findIndex(({ own }) => !own);
    const taken = other < 0 ? rows.length : other;
    for (const { own } of looks.slice(0, taken)) if (own) countStarted(progress, own);
    countTaken(progress, rows.slice(0, taken));
    // Parked ones, of which there may be many, must not make the progress large.
    if (progress.open.length >= LOOKS_AT_ONCE) await watchRows(work);
    if (taken < LOOKS_AT_ONCE) return true;
    if (!(await mayGoOn())) return false;
  }
}

/** `own`: this batch started it. To any other order under the row's id the batch may have attached. */
interface Look {
  exists: boolean;
  own?: StartedRow;
}

async function lookUp({ client, batch }: BatchWork, { row, order }: BatchRow): Promise<Look> {
  const orderId = typeof order === 'object' && order !== null && 'order_id' in order ? order.order_id : undefined;
  if (typeof orderId !== 'string') return { exists: false };
  const found = await describeRun(client, orderWorkflowId(batch.account, orderId));
  if (!found) return { exists: false };
  if (!startedBy(batch, found)) return { exists: true };
  const standing = standingOfRun(found) ?? (await readEnd(client, found.workflowId, found.runId));
  return { exists: true, own: { row, orderId, standing } };
}
