import type { BatchFilter, BatchListEntry } from '../client/list-batches.js';
import type { PaymentOrders } from '../client.js';
import type { BatchState } from '../contract/batch/batch.js';
import { batchLine } from './batch-text.js';
import { whileWaiting } from './progress.js';
import { EXIT, type Report, type StarterIo } from './report.js';
import { headed } from './text.js';

/** A batch of the list; without a worker that answers there is no state. */
type Listed = BatchListEntry & { state?: BatchState };

/** Asks a worker how far a batch is; the list must not fail by one that nobody can answer for. */
async function withState(orders: PaymentOrders, batch: BatchListEntry): Promise<Listed> {
  if (batch.status !== 'open') return batch;
  const handle = orders.batches.handle(batch.batchId, { account: batch.account });
  const state = await handle.state().catch(() => undefined);
  return { ...batch, ...(state && { state }) };
}

function batchRow({ account, batchId, status, attention, state, startedAt, closedAt }: Listed): string[] {
  const where = status === 'open' ? batchLine(state, Date.now()) : (closedAt?.toISOString() ?? '');
  return [account, batchId, status, attention?.code ?? '', startedAt.toISOString(), where];
}

/** Batches known to Temporal. */
export async function listBatches(
  io: StarterIo,
  orders: PaymentOrders,
  { account, open, limit }: BatchFilter & { limit: number },
): Promise<Report> {
  const found = await orders.batches.list({ account, open, limit });
  const asking = Promise.all(found.map((batch) => withState(orders, batch)));
  const batches = await whileWaiting(io.stderr, 'asking how far they are', asking);
  const headings = ['account', 'batch', 'status', 'attention', 'started', 'ended, or how far it is'];
  const shown = headed(headings, batches.map(batchRow), io.stdout.columns);
  const text = [
    batches.length === 0 ? 'no batches' : shown,
    ...(batches.length === limit ? [`the newest ${limit}; there may be more: --limit`] : []),
  ].join('\n');
  return { exitCode: EXIT.done, json: { batches }, text };
}
