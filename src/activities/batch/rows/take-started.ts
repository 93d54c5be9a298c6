import { type BatchRow, nextOf } from '../../../batch-files/source.js';
import { describeRun, readEnd, standingOfRun } from '../../../client/standing.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { countStarted, countTaken } from './count.js';
import { type BatchWork, type StartedRow, startedBy } from './start-row.js';
import { watchRows } from './watch-rows.js';

const LOOKS_AT_ONCE = 20;
/** Behind so many rows without an order of this batch, none was started. */
const MOST_WITHOUT = 100;

/** Counts uncounted rows of this batch. Returns false if it may not continue. */
export async function takeStarted(
  work: BatchWork,
  next: Iterator<BatchRow>,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  const { batch, progress } = work;
  const isStopped = batch.mode === 'finish';
  const waiting: BatchRow[] = [];
  for (;;) {
    const rows = nextOf(next, LOOKS_AT_ONCE);
    const own = await Promise.all(rows.map((row) => lookUp(work, row)));
    const end = endOf(own, isStopped);
    for (const started of own.slice(0, end)) if (started) countStarted(progress, started);
    if (end > 0) countTaken(progress, [...waiting.splice(0), ...rows.slice(0, end)]);
    waiting.push(...rows.slice(end));
    if (waiting.length >= (isStopped ? MOST_WITHOUT : 1) || rows.length < LOOKS_AT_ONCE) break;
    // Parked ones, of which there may be many, must not make the progress large.
    if (progress.open.length >= LOOKS_AT_ONCE) await watchRows(work);
    if (!(await mayContinue())) return false;
  }
  progress.exhausted = isStopped || progress.taken >= batch.plan.rows;
  return true;
}

/** The first gap is the next row to be started; after a stop gaps do no harm. */
const endOf = (own: readonly unknown[], isStopped: boolean): number =>
  isStopped ? own.findLastIndex((one) => one !== undefined) + 1 : [...own, undefined].indexOf(undefined);

/** The row's order if this batch started it. To any other order under the row's id the batch may have attached. */
async function lookUp({ client, batch }: BatchWork, { row, order }: BatchRow): Promise<StartedRow | undefined> {
  const orderId = typeof order === 'object' && order !== null && 'order_id' in order ? order.order_id : undefined;
  if (typeof orderId !== 'string') return undefined;
  const found = await describeRun(client, orderWorkflowId(batch.account, orderId));
  if (!found || !startedBy(batch, found)) return undefined;
  const standing = standingOfRun(found) ?? (await readEnd(client, found.workflowId, found.runId));
  return { row, orderId, standing };
}
