import { OrderHandle } from '../../../client/order-handle.js';
import { readStanding } from '../../../client/standing.js';
import type { OpenRow } from '../../../contract/batch/batch.js';
import { orderWorkflowId } from '../../../contract/names.js';
import { mapInOrder } from '../../paced-reads.js';
import { countEnd, countParked } from './count.js';
import type { BatchWork } from './start-row.js';

/** Orders read at the same time, and the fewest that one look reads. */
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
    // Rows that were read go behind the others.
    progress.open = [...progress.open.filter((open) => !rows.includes(open)), ...rows];
    await lookAt(work, rows);
    // Rows end about in the order in which they began: where some of these did, the next ones may have as well.
    const ended = rows.filter((row) => !progress.open.includes(row));
    if (ended.length < rows.length / 4) return;
  }
}

async function lookAt({ client, batch, progress }: BatchWork, rows: readonly OpenRow[]): Promise<void> {
  const read = async (open: OpenRow) => {
    const standing = await readStanding(client, orderWorkflowId(batch.account, open.orderId));
    const waits = standing.kind === 'open' ? standing.waits : undefined;
    return {
      open,
      standing,
      waits,
      isUnsettled: waits === 'parked' && (await isUnsettled(client, batch.account, open)),
    };
  };
  for await (const { open, standing, waits, isUnsettled } of mapInOrder(rows, READS_AT_ONCE, read)) {
    const others = (progress.uncertain ?? []).filter((row) => row !== open.row);
    progress.uncertain = waits === 'uncertain' ? [...others, open.row] : others;
    if (waits === 'parked') countParked(progress, open, isUnsettled);
    else countEnd(progress, open, standing);
  }
}

/** Returns true for an order that could still be closed as absent: it may exist. */
async function isUnsettled(client: BatchWork['client'], account: string, { orderId }: OpenRow): Promise<boolean> {
  try {
    const { attention } = await new OrderHandle(client, account, orderId).state();
    return attention?.allowed.includes('close-absent') === true;
  } catch {
    // One pause too many does less harm than one too few.
    return true;
  }
}
