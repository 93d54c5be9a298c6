import { getClient } from '@temporalio/activity';
import { addChanges, spelled } from '../../contract/reconcile/balance-book.js';
import { type DayFound, gravestRows, type ReconcileDay } from '../../contract/reconcile/days.js';
import {
  AHEAD_OF_UTC_MS,
  DAY_MS,
  dateTimeMs,
  type Span,
  serviceTime,
  ZONE_SLACK_MS,
} from '../../contract/reconcile/input.js';
import { type Finding, MAX_SHOWN } from '../../contract/reconcile/reconcile.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import { orderWindows, smallPageNote, type WindowPage } from '../../payment-service/paging.js';
import type { OrderListQuery } from '../../payment-service/queries.js';
import type { ActivityDeps } from '../deps.js';
import { findings, isUnnamed, workflowIdsOf } from './findings.js';
import { receiptFinder } from './followers.js';
import { newestRuns, type OurRun, ourRuns } from './our-runs.js';
import { forAccount } from './reconcile-account.js';
import {
  addMalformed,
  type Comparing,
  IDS_AT_ONCE,
  listIds,
  type Reconciliation,
  readIds,
  ServiceView,
  statusOf,
} from './scan.js';

/** Maximum difference between our clock and the service's dates: a time zone on each side. */
const OUR_SLACK_MS = 2 * ZONE_SLACK_MS;
/** How far back open orders are searched after a loss. */
const OPEN_SINCE_MS = 366 * DAY_MS;
const OPEN_STATUSES = ['new', 'processing'];
/** Windows share a second. */
const EDGE_MS = 1_000;

/** Compares a day of both sides. Starts followers and wakes runs; moves no money. */
export function reconcileDayActivity(deps: ActivityDeps) {
  const receiptsOf = receiptFinder(deps.callback?.tokenKeys);
  return (input: ReconcileDay): Promise<DayFound> =>
    forAccount(deps, input.account, { ...input.totals, step: 'starting' }, async ({ account, reads, progress }) => {
      const totals = structuredClone(input.totals);
      const found: DayFound = { totals, rows: [] };
      const tools = { account, client: getClient(), reads, input, progress, found, ids: new Set<string>() };
      await readDay({ ...tools, receiptOf: receiptsOf(tools) });
      for (const { small } of [account.service.orders().sizes, account.service.addresses().sizes]) {
        if (small) addNote(found, smallPageNote(small));
      }
      return found;
    });
}

/** Reads the day's list first: only our runs without a listed order are looked up. */
async function readDay(work: Reconciliation): Promise<void> {
  const { input, progress, found } = work;
  if (input.day.fromMs > 0) {
    progress.step = 'reading the orders of the service';
    for await (const one of windowsOf(work, { ...input.day, expected: expectedOn(input) })) {
      await comparePage(work, one, new Set(found.totals.edge));
      found.totals.edge = edgeAfter(found.totals.edge, one);
    }
  }
  progress.step = `looking up our orders ${input.day.fromMs > 0 ? 'that the list does not show' : 'from before the window'}`;
  await compareRuns(work);
  if (input.day.fromMs === 0 && input.recover && !input.until) await readOpenOrders(work);
}

/** Expects as many orders as on earlier days, so that each day needs few halvings. */
function expectedOn({ day, fromMs, toMs, totals, until }: ReconcileDay): number {
  const readMs = (until ? toMs : day.fromMs) - (fromMs - ZONE_SLACK_MS);
  return readMs > 0 ? (totals.seen * (day.toMs - day.fromMs)) / readMs : 0;
}

/** After a loss, orders older than the window may have no follower. */
async function readOpenOrders(work: Reconciliation): Promise<void> {
  const { input, found } = work;
  const end = serviceTime(input.day.toMs);
  const span = { fromMs: input.toMs - OPEN_SINCE_MS, toMs: input.day.toMs };
  for (const status of OPEN_STATUSES) {
    for await (const one of windowsOf(work, span, { status })) {
      await comparePage(work, one, work.ids);
      // The window's first day starts with the second in which this list ends.
      if (one.window.to >= end) found.totals.edge.push(...one.page.items.map(({ order_uuid: uuid }) => uuid));
    }
  }
  addNote(
    found,
    `before the window only orders in the documented open statuses (${OPEN_STATUSES.join(', ')}) were looked for; ` +
      'use an earlier --from to see those in any other status',
  );
}

async function* windowsOf(
  { reads, found, progress }: Reconciliation,
  span: Span & { expected?: number },
  filter: Pick<OrderListQuery, 'status'> = {},
): AsyncGenerator<WindowPage> {
  for await (const one of orderWindows(reads.orders(), span, filter)) {
    found.totals.windows += 1;
    progress.windows = found.totals.windows;
    if (one.paged) addNote(found, `${placeOf(one)} is full: its orders may have shifted while its pages were read`);
    yield one;
  }
}

const placeOf = ({ window: { from, to } }: WindowPage): string => `window ${from} to ${to}`;

/** Returns the orders (uuids) of the last second, which the next window shows again. */
export function edgeAfter(edge: string[], { page, paged }: WindowPage): string[] {
  if (page.items.length === 0) return edge;
  const timeOf = ({ created_at: at }: OrderListItem) => dateTimeMs(at ?? '');
  const newestMs = page.items.reduce((newest, item) => Math.max(newest, timeOf(item) ?? 0), 0);
  const last = page.items.filter((item) => (timeOf(item) ?? newestMs) >= newestMs - EDGE_MS);
  return [...(paged ? edge : []), ...last.map(({ order_uuid: uuid }) => uuid)];
}

async function comparePage(work: Reconciliation, one: WindowPage, known: ReadonlySet<string>): Promise<void> {
  const { input, ids, client } = work;
  const items = one.page.items.filter(({ order_uuid }) => !known.has(order_uuid));
  for (const { user_order_id: id, order_uuid: uuid } of one.page.items) ids.add(id).add(uuid);
  const view = new ServiceView();
  view.take({ ...one.page, items }, placeOf(one));
  const orders = [...view.orders.values()];
  addChangesOf(work, orders);
  if (input.until) return;
  // First, so that unreadable entries count on their own day.
  addMalformed(work.found.totals, view.malformed);
  const runs = await newestRuns(client, workflowIdsIn(input, orders));
  const unnamed = orders.filter((order) => isUnnamed(input.account, runs, order));
  const unnamedIds = unnamed.map(({ user_order_id: id }) => id);
  await readIds(work, view, unnamedIds);
  await addFindings({ ...work, view, runs }, orders);
}

const workflowIdsIn = ({ account }: ReconcileDay, orders: readonly OrderListItem[]): string[] =>
  orders.flatMap((order) => workflowIdsOf(account, order));

function addChangesOf({ input, found, ids }: Reconciliation, orders: readonly OrderListItem[]): void {
  const scope = {
    from: serviceTime(input.fromMs),
    ...(!input.untilNow && { to: serviceTime(input.toMs) }),
    ...(input.until && { until: input.until }),
    carried: new Map(input.carried.map(({ currency, amount }) => [currency, spelled(amount)])),
  };
  for (const { order_uuid: uuid, balance_changes: changes } of orders) {
    ids.add(uuid);
    addChanges(found.totals.books, changes, scope);
  }
}

async function addFindings(work: Comparing, orders: readonly OrderListItem[], unseen?: OurRun[]): Promise<void> {
  const { input, found, progress } = work;
  const { totals } = found;
  const rows: Finding[] = [];
  for await (const row of findings(work, orders, unseen)) {
    totals.classes[row.class] += 1;
    rows.push(row);
  }
  found.rows = gravestRows([...found.rows, ...rows], input.totals.classes);
  totals.seen += orders.length;
  progress.seen = totals.seen;
}

/**
 * Compares runs that started on the day and ran or ended in the window: the service may date a
 * change that much later.
 */
async function compareRuns(work: Reconciliation): Promise<void> {
  const { client, input, ids } = work;
  const { day, fromMs, toMs, atMs } = input;
  const untilMs = Math.min(day.toMs > toMs ? toMs + OUR_SLACK_MS : day.toMs, atMs);
  if (day.fromMs >= untilMs) return;
  const belonging = { fromMs: day.fromMs, toMs: untilMs, endedSinceMs: fromMs - AHEAD_OF_UTC_MS };
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

/** Looks orders up by our runs' ids and compares both. Only the newest run of an id counts. */
async function compareUnseen(work: Reconciliation, unseen: readonly OurRun[]): Promise<void> {
  const { client, input, found } = work;
  const unseenIds = unseen.map(({ workflowId }) => workflowId);
  const listed = await newestRuns(client, unseenIds);
  const runs = unseen.filter((run) => (listed.get(run.workflowId)?.startedAtMs ?? 0) <= run.startedAtMs);
  const asked = await askedFor(work, runs);
  const view = new ServiceView();
  const askedIds = [...asked.values()].flatMap((id) => id ?? []);
  await readIds(work, view, askedIds);
  const orders = await ofThisDay(work, [...view.orders.values()]);
  addChangesOf(work, orders);
  if (input.until) return;
  addMalformed(found.totals, view.malformed);
  const others = await newestRuns(client, workflowIdsIn(input, orders));
  const known = new Map([...others, ...runs.map((run) => [run.workflowId, run] as const)]);
  const gone = [...asked.keys()].filter(({ received, orderId }) =>
    received ? !view.orders.has(orderId) : !view.uuidsById.has(orderId),
  );
  await addFindings({ ...work, view, runs: known }, orders, gone);
}

/** Returns the ids to look up. The day's list covers receipts without an id. */
async function askedFor(work: Reconciliation, runs: readonly OurRun[]): Promise<Map<OurRun, string | undefined>> {
  const asked = new Map<OurRun, string | undefined>();
  for (const run of runs) {
    // Forged callbacks start thousands of runs without an order. A real receipt would be listed.
    const order = run.received && !run.noOrder ? await statusOf(work, run.orderId) : undefined;
    const id = run.received ? order?.user_order_id : run.orderId;
    if (!order || id || !mayBeListed(work.input, order)) asked.set(run, id || undefined);
  }
  return asked;
}

/** Leaves out orders that another day of the window lists. */
async function ofThisDay(work: Reconciliation, orders: readonly OrderListItem[]): Promise<OrderListItem[]> {
  const { input } = work;
  const ids = new Set(orders.filter((one) => mayBeListed(input, one)).map((one) => one.user_order_id));
  const listedIn = async (span: Span): Promise<Set<string>> =>
    new Set((await listIds(work, [...ids], span)).items.map(({ order_uuid: uuid }) => uuid));
  if (ids.size === 0) return [...orders];
  const window = { fromMs: input.fromMs - ZONE_SLACK_MS, toMs: input.toMs + ZONE_SLACK_MS };
  const listed = await listedIn(window);
  const own = listed.size > 0 && input.day.fromMs > 0 ? await listedIn(input.day) : new Set();
  return orders.filter(({ order_uuid: uuid }) => !listed.has(uuid) || own.has(uuid));
}

/** Returns false for an order that no list of the window shows, whatever the time zones. */
function mayBeListed({ fromMs, toMs }: ReconcileDay, { created_at: at }: Pick<OrderListItem, 'created_at'>): boolean {
  const createdMs = dateTimeMs(at ?? '');
  return createdMs === undefined || (createdMs >= fromMs - OUR_SLACK_MS && createdMs <= toMs + OUR_SLACK_MS);
}

function addNote({ totals: { notes } }: DayFound, note: string): void {
  if (!notes.includes(note) && notes.length < MAX_SHOWN) notes.push(note);
}
