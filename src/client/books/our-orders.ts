import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { OrderAttention } from '../../contract/attention.js';
import type { BookPeriod } from '../../contract/books/period.js';
import {
  ORDER_STATE_QUERY,
  orderWorkflowId,
  parseAfterEndWorkflowId,
  quoted,
  quotedTime,
  searchAttribute,
} from '../../contract/names.js';
import type { OrderState } from '../../contract/order/messages.js';
import { ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { Order } from '../../contract/service-objects.js';
import { newestRuns } from '../batch/batch-rows.js';
import type { WaitOptions } from '../bounded.js';
import { type OrderListEntry, toEntry } from '../list-orders.js';
import { allRuns } from '../pages.js';
import { describeRun, standingOf } from '../standing.js';
import { callTemporal } from '../temporal-calls.js';

const IDS_AT_ONCE = 500;

/** An order that changed after its end. `original`: as its run reported it; absent = no order. */
export interface ChangedOrder {
  original?: Order;
  /** Start of the look-up that found the change. */
  atMs: number;
}

/** Facts of a run that a book needs. It keeps them for each order. */
export type BookRun = Pick<OrderListEntry, 'orderId' | 'orderUuid' | 'reference' | 'status' | 'startedAt' | 'closedAt'>;

/** Returns true for a look-up after the end that asks, or asked, a person about a change. */
async function hasAskedAboutChange(client: Client, run: WorkflowExecutionInfo): Promise<boolean> {
  const code: OrderAttention = 'changed-after-end';
  if (run.typedSearchAttributes.get(searchAttribute.attentionReason) === code) return true;
  // Others ask whether the service answers. In doubt, the service is asked for the order.
  const state = client.workflow.getHandle(run.workflowId, run.runId).query<OrderState, []>(ORDER_STATE_QUERY);
  const { decided = [] } = await state.catch(() => ({ decided: [{ action: 'accept' }] }));
  return decided.some(({ action }) => action === 'accept');
}

/** Orders of ours that may belong to a book, as Temporal shows them. */
export class OurOrders {
  readonly #byId = new Map<string, BookRun>();
  readonly #followUps = new Map<string, string[]>();
  readonly changed = new Map<string, ChangedOrder>();

  private constructor(
    private readonly client: Client,
    private readonly account: string,
    private readonly wait: WaitOptions | undefined,
  ) {}

  /**
   * Lists the runs that were open in the period or ended shortly before it, and later changes.
   * `wait` limits each request, as their number has no limit.
   */
  static async read(client: Client, { account, fromMs, toMs }: BookPeriod, wait?: WaitOptions): Promise<OurOrders> {
    const ours = new OurOrders(client, account, wait);
    const since = `(ExecutionStatus = 'Running' OR CloseTime >= ${quotedTime(fromMs - ZONE_SLACK_MS)})`;
    const of = (prefix: string) =>
      `(WorkflowId STARTS_WITH ${quoted(`${prefix}order:${account}:`)} OR WorkflowId STARTS_WITH ${quoted(`${prefix}received:${account}:`)})`;
    const query = `${of('')} AND ${since} AND StartTime < ${quotedTime(toMs + 2 * ZONE_SLACK_MS)}`;
    for await (const info of allRuns(client, query, wait)) ours.#take(toEntry(info));
    // A run that asked nobody has no status.
    const changes = `${of('after-end:')} AND ${since} AND ${searchAttribute.orderStatus.name} IS NOT NULL`;
    for await (const run of allRuns(client, changes, wait)) {
      await callTemporal(client, () => ours.#takeChange(run), wait);
    }
    return ours;
  }

  async #takeChange(run: WorkflowExecutionInfo): Promise<void> {
    const about = parseAfterEndWorkflowId(run.workflowId);
    if (!about || this.changed.has(about.orderId) || !(await hasAskedAboutChange(this.client, run))) return;
    const standing = await standingOf(this.client, await describeRun(this.client, about.ended));
    // Without a readable end, only the balance changes show what changed.
    if (!['completed', 'noOrder', 'unresolved'].includes(standing.kind)) return;
    const original = standing.kind === 'completed' ? { original: standing.result.order } : {};
    this.changed.set(about.orderId, { atMs: run.startTime.getTime(), ...original });
  }

  #take(entry: OrderListEntry | undefined): void {
    const known = entry && this.#byId.get(entry.orderId);
    if (!entry || (known && known.startedAt > entry.startedAt)) return;
    const { orderId, orderUuid, reference, status, startedAt, closedAt } = entry;
    this.#byId.set(orderId, { orderId, orderUuid, reference, status, startedAt, closedAt });
    const extended = known ? undefined : /^(.+)\.r\d+$/.exec(orderId)?.[1];
    if (extended) this.#followUps.set(extended, [...(this.#followUps.get(extended) ?? []), orderId].sort());
  }

  /** All runs that were listed at the start. */
  all = (): BookRun[] => [...this.#byId.values()];

  /** Returns the run of an order, by its id or as a receipt. */
  of = ({ user_order_id: id, order_uuid: uuid }: Pick<Order, 'user_order_id' | 'order_uuid'>) =>
    this.#byId.get(id) ?? this.#byId.get(uuid);

  /** Returns what changed of an order after its end. Another order under its id did not change. */
  changeOf({ user_order_id: id, order_uuid: uuid }: Pick<Order, 'user_order_id' | 'order_uuid'>) {
    const changed = this.changed.get(id) ?? this.changed.get(uuid);
    return changed?.original && changed.original.order_uuid !== uuid ? undefined : changed;
  }

  /** Returns the ids of an order's follow-ups. */
  followUpsOf = (orderId: string): readonly string[] => this.#followUps.get(orderId) ?? [];

  /** Reads the runs of orders that the first list lacks, because they ended long before. */
  async readMore(orderIds: readonly string[]): Promise<void> {
    const ids = [...new Set(orderIds)].filter((id) => id !== '' && !this.#byId.has(id));
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const some = ids.slice(at, at + IDS_AT_ONCE).map((id) => orderWorkflowId(this.account, id));
      const newest = await callTemporal(this.client, () => newestRuns(this.client, some), this.wait);
      for (const info of newest.values()) this.#take(toEntry(info));
    }
  }
}
