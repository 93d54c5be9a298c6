import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import * as z from 'zod';
import { quotedTime } from '../contract/names.js';
import { OPEN_STATUSES } from '../contract/service-objects.js';
import { checkedBy } from '../validation/field-errors.js';
import type { WaitOptions } from './bounded.js';
import { accepted } from './checked-input.js';
import { advance, decodePosition, encodePosition, expectedCount, type FeedPosition, widened } from './feed-cursor.js';
import {
  filterSchema,
  isTerminated,
  type OrderFilter,
  type OrderListEntry,
  orderQuery,
  TERMINATED,
  toEntry,
} from './list-orders.js';
import { badCursor, contentOf, cursorOf, readPage } from './pages.js';

/** Selects ended orders. */
export interface EndedFilter extends Pick<OrderFilter, 'account' | 'accounts' | 'limit'>, WaitOptions {
  /** Cursor of the call before. Absent: begins at `from`, or at the oldest end in Temporal. */
  after?: string | undefined;
  /** Earliest end, by Temporal's clock. Counts only without `after`. */
  from?: Date | undefined;
}

/** Ended orders; [] if there are no more now. Store the cursor after you processed them. */
export interface EndedOrders {
  orders: (OrderListEntry & { closedAt: Date })[];
  cursor: string;
}

const DEFAULT_LIMIT = 100;

const endedSchema = filterSchema
  .pick({ account: true, limit: true })
  .extend({ from: z.number('must be a valid Date').optional() });

/** Returns the next ended orders, each at least once. Throws InvalidInputError. */
export async function endedOrders(
  client: Client,
  { after, from, account, accounts, limit: pageSize = DEFAULT_LIMIT, ...others }: EndedFilter,
): Promise<EndedOrders> {
  const fromMs = from instanceof Date ? from.getTime() : from;
  accepted(checkedBy(endedSchema, { account, from: fromMs, limit: pageSize, ...others }));
  const list = `${orderQuery({ account, accounts })} AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`;
  let at: FeedPosition = { from: fromMs, start: fromMs, counts: {}, seen: [] };
  if (after !== undefined) {
    const decoded = decodePosition(contentOf(after, list, 'after'));
    if (!decoded) throw badCursor('after');
    at = decoded;
  }
  const since = (ms?: number) => (ms === undefined ? list : `${list} AND CloseTime >= ${quotedTime(ms)}`);
  if (at.total !== undefined && at.start !== undefined && !at.page) {
    const all = await client.workflow.count(since(at.from));
    if (all.count === at.total) return { orders: [], cursor: cursorOf(encodePosition(at), list) };
    const before = await client.workflow.count(`${since(at.from)} AND CloseTime < ${quotedTime(at.start)}`);
    if (before.count !== expectedCount(at)) at = widened(at);
  }
  for (;;) {
    const token = at.page && Buffer.from(at.page.token, 'base64');
    // If a reset terminated a run, its newer run is the one that ends.
    const page = await readPage(client, { query: since(at.start), pageSize, token, field: 'after' }, isTerminated);
    const rowOf = (info: WorkflowExecutionInfo, isEnd: boolean) => {
      return { info, isEnd, runId: info.runId, closedMs: info.closeTime?.getTime() ?? 0 };
    };
    const runs = [...page.runs.map((run) => rowOf(run, true)), ...page.superseded.map((run) => rowOf(run, false))];
    runs.sort((one, other) => other.closedMs - one.closedMs);
    const { found, next } = advance(at, { runs, token: page.token });
    const orders = found.flatMap(({ info, isEnd }) => (isEnd && endOf(toEntry(info))) || []);
    if (orders.length > 0 || !next.page) return { orders, cursor: cursorOf(encodePosition(next), list) };
    at = next;
  }
}

/** Returns an end. A workflow that broke keeps the status of an open order. */
function endOf(entry: OrderListEntry | undefined): EndedOrders['orders'][number] | undefined {
  if (!entry?.closedAt) return undefined;
  const isOpen = OPEN_STATUSES.some((one) => one === (entry.status ?? 'open'));
  return { ...entry, closedAt: entry.closedAt, ...(isOpen && { status: TERMINATED, needsAttention: true }) };
}
