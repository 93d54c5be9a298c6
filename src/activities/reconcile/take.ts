import { AHEAD_OF_UTC_MS } from '../../contract/reconcile/input.js';
import type { Finding } from '../../contract/reconcile/reconcile.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import type { DateWindow, Page, WindowPage } from '../../payment-service/paging.js';
import { isUnnamed, workflowIdsOf } from './duplicates.js';
import { type Compared, findings } from './findings.js';
import { addMalformed, addRows } from './kept.js';
import { newestRuns, type OurRun, ourRuns } from './our-runs.js';
import { IDS_AT_ONCE, isSeen, type Reconciliation, readIds, type SeenOrder, ServiceView, statusOf } from './scan.js';

/** A span of time in ms since the epoch; its end does not belong to it. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** Where something stands that cannot be read. */
export const placeOf = ({ from, to }: DateWindow): string => `window ${from} to ${to}`;

/** Compares the orders of a window that are not known yet. In a second scan only their balance changes count. */
export async function comparePage(
  work: Reconciliation,
  { window, page }: WindowPage,
  known: ReadonlySet<string>,
): Promise<readonly SeenOrder[]> {
  const items = page.items.filter(({ order_uuid }) => !known.has(order_uuid));
  const view = new ServiceView();
  view.take({ ...page, items }, placeOf(window));
  const orders = [...view.orders.values()];
  if (work.kept.second) {
    for (const { balance_changes } of orders) work.fold.take(balance_changes);
    return orders;
  }
  const runs = await runsOf(work, orders);
  const others = new ServiceView();
  const unnamed = orders.filter((order) => isUnnamed(work.input.account, runs, order));
  await readIds(work, others, [...new Set(unnamed.map(({ user_order_id }) => user_order_id))]);
  view.learn(others);
  await take(work, { view, runs, receiptOf: work.receiptOf, orders, unseen: [] });
  addIds(work, items);
  return orders;
}

const runsOf = ({ client, input }: Reconciliation, orders: readonly SeenOrder[]): Promise<Map<string, OurRun>> =>
  newestRuns(client, [...new Set(orders.flatMap((order) => workflowIdsOf(input.account, order)))]);

export function addIds({ ids }: Reconciliation, items: Page<OrderListItem>['items']): void {
  for (const { user_order_id: id, order_uuid: uuid } of items) for (const one of new Set([id, uuid])) ids.add(one);
}

/** What the comparison finds, and what the orders say beside it, counts all at once. */
async function take(work: Reconciliation, compared: Compared): Promise<void> {
  const found: Finding[] = [];
  for await (const row of findings(work, compared)) found.push(row);
  const { kept, fold, progress } = work;
  addRows(kept, found);
  addMalformed(kept, compared.view.malformed);
  for (const { balance_changes } of compared.orders) fold.take(balance_changes);
  kept.seen += compared.orders.length;
  progress.seen = kept.seen;
}

/** Runs that go on or ended in the window: a balance change that the service dates into it may have happened that long before. */
export async function compareRuns(work: Reconciliation, span: Span): Promise<void> {
  const { client, input, ids } = work;
  const belonging = { ...span, endedSinceMs: input.fromMs - AHEAD_OF_UTC_MS };
  let unseen: OurRun[] = [];
  for await (const run of ourRuns(client, input.account, belonging)) {
    if (ids.has(run.orderId)) continue;
    unseen.push(run);
    if (unseen.length < IDS_AT_ONCE) continue;
    await compareUnseen(work, unseen);
    unseen = [];
  }
  await compareUnseen(work, unseen);
}

/** Looks orders up by the ids of our runs, and compares both; a run that is not the newest of its id says nothing. */
async function compareUnseen(work: Reconciliation, unseen: readonly OurRun[]): Promise<void> {
  const { client, kept } = work;
  const newest = await newestRuns(
    client,
    unseen.map(({ workflowId }) => workflowId),
  );
  const listed = new Map(unseen.filter((run) => isNewest(run, newest)).map((run) => [run.workflowId, run]));
  const view = new ServiceView();
  await readIds(work, view, await idsOf(work, [...listed.values()]));
  const orders = [...view.orders.values()].filter(({ order_uuid }) => !kept.handled.includes(order_uuid));
  const runs = new Map([...(await runsOf(work, orders)), ...listed]);
  const gone = [...listed.values()].filter((run) => !isSeen(view, run));
  await take(work, { view, runs, receiptOf: work.receiptOf, orders, unseen: gone });
  if (kept.phase === 'earlier') kept.handled.push(...orders.map(({ order_uuid }) => order_uuid));
  const moved = orders.filter(({ balance_changes }) => balance_changes.length > 0);
  kept.byId.push(...moved.map(({ user_order_id }) => user_order_id));
}

const isNewest = (run: OurRun, newest: ReadonlyMap<string, OurRun>): boolean => {
  const other = newest.get(run.workflowId);
  return other === undefined || other.startedAtMs <= run.startedAtMs;
};

/** The order ids of runs. The list knows no look-up by order_uuid, so that the status operation tells those of receipts. */
async function idsOf(work: Reconciliation, runs: readonly OurRun[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { received, noOrder, orderId } of runs) {
    // Forged callbacks start such runs by the thousand, and a receipt that does exist would be in a window.
    if (received && noOrder) continue;
    const id = received ? (await statusOf(work, orderId))?.user_order_id : orderId;
    if (id) ids.push(id);
  }
  return [...new Set(ids)];
}
