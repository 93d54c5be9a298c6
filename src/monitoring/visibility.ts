import type { Client } from '@temporalio/client';
import { Gauge, type Registry } from 'prom-client';
import { seenUntil } from '../client/list-orders.js';
import { listRuns, supersededRuns } from '../client/pages.js';
import { ATTENTION_CODES } from '../contract/attention.js';
import { quoted, searchAttribute } from '../contract/names.js';
import { OPEN_STATUSES } from '../contract/service-objects.js';

/** Interval of the list requests, a dozen each. */
const REFRESH_MS = 60_000;

/** Maximum workflows of which more than the number is read: one page of a server. */
const MOST_READ = 1_000;

const HOUR_MS = 3_600_000;

/** Ages of open orders: label, and range before now. */
const AGES = [
  ['1h', 0, HOUR_MS],
  ['1d', HOUR_MS, 24 * HOUR_MS],
  ['older', 24 * HOUR_MS, undefined],
] as const;

const { name: STATUS } = searchAttribute.orderStatus;
const IS_RUNNING = `ExecutionStatus = 'Running'`;
const TERMINATED = `('Terminated', 'TimedOut')`;
const IS_NOT_TERMINATED = `ExecutionStatus NOT IN ${TERMINATED}`;
const OPEN = `(${OPEN_STATUSES.map(quoted).join(', ')})`;

/** Counts what Temporal's list shows. A failed count keeps the last figure. */
export function countVisible(client: Client, registry: Registry, refreshMs = REFRESH_MS): () => void {
  const gauges = gaugesIn(registry);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const round = async (): Promise<void> => {
    await refresh(client, gauges).catch(() => undefined);
    if (!isStopped) timer = setTimeout(round, refreshMs).unref();
  };
  void round();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

type Gauges = ReturnType<typeof gaugesIn>;

function gaugesIn(registry: Registry) {
  const gauge = <T extends string = never>(name: string, help: string, labelNames: T[] = []): Gauge<T> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  return {
    open: gauge('payment_orders_open', 'open orders by status and age; the same on every worker', ['status', 'age']),
    attention: gauge(
      'payment_orders_attention',
      'workflows that a person should look at, open or ended within two days, by reason and account; no series where there are none; the same on every worker',
      ['reason', 'account'],
    ),
    terminated: gauge(
      'payment_orders_terminated',
      'orders whose workflow was terminated or timed out within a day; the same on every worker',
    ),
    countedAt: gauge('payment_orders_counted_timestamp_seconds', 'when these were counted last'),
  };
}

async function refresh(client: Client, gauges: Gauges): Promise<void> {
  const now = Date.now();
  const count = async (...terms: string[]): Promise<number> => (await client.workflow.count(terms.join(' AND '))).count;
  const at = (ms: number): string => `'${new Date(now - ms).toISOString()}'`;
  for (const status of OPEN_STATUSES) {
    for (const [age, from, to] of AGES) {
      const started = [`StartTime <= ${at(from)}`, ...(to === undefined ? [] : [`StartTime > ${at(to)}`])];
      gauges.open.set({ status, age }, await count(`${STATUS} = ${quoted(status)}`, IS_RUNNING, ...started));
    }
  }
  const waiting = await waitingIn(client);
  const terminated = [`ExecutionStatus IN ${TERMINATED}`, `CloseTime > ${at(24 * HOUR_MS)}`];
  gauges.terminated.set(await count(...terminated, `${STATUS} IN ${OPEN}`));
  // Removes reasons that no order has any more.
  gauges.attention.reset();
  for (const { reason, account } of waiting.read) gauges.attention.inc({ reason, account });
  if (waiting.unread > 0) gauges.attention.inc({ reason: 'other', account: '' }, waiting.unread);
  gauges.countedAt.set(now / 1_000);
}

/** Returns what waits for a person, also if it ended recently. 'other': no known code. */
async function waitingIn(client: Client) {
  const isEnded = `(${IS_NOT_TERMINATED} AND CloseTime > ${seenUntil()})`;
  const query = `${searchAttribute.needsAttention.name} = true AND (${IS_RUNNING} OR ${isEnded})`;
  const { runs, token } = await listRuns(client, { query, pageSize: MOST_READ });
  const unread = token === undefined ? 0 : (await client.workflow.count(query)).count - runs.length;
  const superseded = await supersededRuns(client, runs);
  const read = runs.flatMap(({ runId, typedSearchAttributes: attributes }) => {
    const told = attributes.get(searchAttribute.attentionReason);
    const reason = ATTENTION_CODES.find((code) => code === told) ?? 'other';
    return superseded.has(runId) ? [] : [{ reason, account: attributes.get(searchAttribute.account) ?? '' }];
  });
  return { read, unread };
}
