import type { Client } from '@temporalio/client';
import { Gauge, type Registry } from 'prom-client';
import { maskWallets } from '../contract/wallets.js';

/** So often Temporal's list is asked: a dozen counts each time. */
const REFRESH_MS = 60_000;

/** Batches whose rows are counted: those that started last. */
const MOST_BATCHES = 5;

const STATUSES = ['open', 'uncertain', 'parked'] as const;
const ROW_STATUSES = [
  ...STATUSES,
  'completed',
  'completed_partially',
  'canceled',
  'error',
  'none',
  'unresolved',
] as const;
const HOUR_MS = 3_600_000;

/** Ages of open orders: the label, and from which to which time before now. */
const AGES = [
  ['1h', 0, HOUR_MS],
  ['1d', HOUR_MS, 24 * HOUR_MS],
  ['older', 24 * HOUR_MS, undefined],
] as const;

/**
 * Counts what Temporal's list shows: every worker shows the same figures, so that they are read as their maximum. What cannot be
 * counted keeps its last figure, and `payment_orders_counted_timestamp_seconds` its time.
 */
export function countVisible(client: Pick<Client, 'workflow'>, registry: Registry, refreshMs = REFRESH_MS): () => void {
  const registers = [registry];
  const open = new Gauge({
    name: 'payment_orders_open',
    help: 'open orders by status and age; the same on every worker',
    labelNames: ['status', 'age'],
    registers,
  });
  const attention = new Gauge({
    name: 'payment_orders_attention',
    help: 'workflows that a person should look at; the same on every worker',
    registers,
  });
  const stopped = new Gauge({
    name: 'payment_orders_stopped',
    help: 'orders whose workflow was terminated or timed out within a day; the same on every worker',
    registers,
  });
  const rows = new Gauge({
    name: 'payment_batch_rows',
    help: `rows of the ${MOST_BATCHES} running batches that started last, by status; the same on every worker`,
    labelNames: ['account', 'batch', 'status'],
    registers,
  });
  const countedAt = new Gauge({
    name: 'payment_orders_counted_timestamp_seconds',
    help: 'when these were counted last',
    registers,
  });
  const count = async (query: string): Promise<number> => (await client.workflow.count(query)).count;

  async function countRows(): Promise<void> {
    const found: { labels: { account: string; batch: string; status: string }; count: number }[] = [];
    let batches = 0;
    const query = `WorkflowType = 'bulkWithdraw' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: MOST_BATCHES })) {
      const [, account = '', batch = ''] = /^bulk:([a-z0-9-]{1,32}):([A-Za-z0-9._-]{1,120})$/.exec(workflowId) ?? [];
      if (batch === '') continue;
      for (const status of ROW_STATUSES) {
        const ofBatch = `PaymentBatchId = '${batch}' AND PaymentAccount = '${account}'`;
        const counted = await count(`${ofBatch} AND PaymentOrderStatus = '${status}'`);
        found.push({ labels: { account, batch: maskWallets(batch), status }, count: counted });
      }
      batches += 1;
      if (batches === MOST_BATCHES) break;
    }
    // Ended batches leave.
    rows.reset();
    for (const { labels, count: counted } of found) rows.set(labels, counted);
  }

  async function refresh(): Promise<void> {
    const now = Date.now();
    const at = (ms: number): string => `'${new Date(now - ms).toISOString()}'`;
    for (const status of STATUSES) {
      for (const [age, from, to] of AGES) {
        const started = `StartTime <= ${at(from)}${to === undefined ? '' : ` AND StartTime > ${at(to)}`}`;
        const query = `PaymentOrderStatus = '${status}' AND ExecutionStatus = 'Running' AND ${started}`;
        open.set({ status, age }, await count(query));
      }
    }
    attention.set(await count(`PaymentNeedsAttention = true AND ExecutionStatus = 'Running'`));
    const ended = `ExecutionStatus IN ('Terminated', 'TimedOut') AND CloseTime > ${at(24 * HOUR_MS)}`;
    stopped.set(await count(`${ended} AND PaymentOrderStatus IN ('open', 'uncertain', 'parked')`));
    await countRows();
    countedAt.set(now / 1_000);
  }

  let isRefreshing = false;
  const once = (): void => {
    if (isRefreshing) return;
    isRefreshing = true;
    void refresh()
      .catch(() => undefined)
      .finally(() => {
        isRefreshing = false;
      });
  };
  once();
  const timer = setInterval(once, refreshMs).unref();
  return () => clearInterval(timer);
}
