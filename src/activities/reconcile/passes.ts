import { AHEAD_OF_UTC_MS, dateTimeMs } from '../../contract/reconcile/input.js';
import type { ReconcileAccountInput } from '../../contract/reconcile/reconcile.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import { orderWindows, serviceDateTime, type WindowPage, ZONE_SLACK_MS } from '../../payment-service/paging.js';
import type { OrderListQuery } from '../../payment-service/queries.js';
import { addNote, type Kept, type Phase } from './kept.js';
import { type Reconciliation, readIds, ServiceView } from './scan.js';
import { addIds, comparePage, compareRuns, placeOf, type Span } from './take.js';

const DAY_MS = 86_400_000;
/** Our clock and the service's dates may differ by a time zone on each side: so far outside the window our runs are sought. */
const OUR_SLACK_MS = 2 * ZONE_SLACK_MS;
/** How far back orders that are not final are looked for after a loss, however old they are. */
const OPEN_SINCE_MS = 366 * DAY_MS;
const OPEN_STATUSES = ['new', 'processing'];
/** An order may come into the list after younger ones: so long its balance changes are waited for. */
const LIST_LAG_MS = 15 * 60_000;
/** What windows share. */
const EDGE_MS = 1_000;

/**
 * Reads both sides once, from where an attempt before this one was. Each window of the service's list is compared with our
 * runs of its orders before the next one is read; then come our runs whose order no window showed: an order that was started
 * meanwhile is among them. A second scan only reads balance changes.
 */
export async function scan(work: Reconciliation): Promise<void> {
  const { kept, input } = work;
  const windows = { fromMs: input.fromMs - ZONE_SLACK_MS, toMs: input.toMs + ZONE_SLACK_MS };
  // What windows showed to an attempt before this one.
  const known = { fromMs: windows.fromMs, toMs: { ...NO_TIME, windows: kept.nextMs, runs: windows.toMs }[kept.phase] };
  if (kept.phase === 'earlier') {
    await readEarlier(work);
    goOn(work, 'windows', windows.fromMs);
  }
  if (kept.phase === 'windows') {
    await readWindows(work, windows);
    goOn(work, kept.second ? 'end' : 'runs', firstRunMs(input));
  }
  if (kept.phase === 'runs') {
    work.progress.step = 'reading once more which orders were compared';
    if (known.fromMs < known.toMs) for await (const { page } of windowsOf(work, known)) addIds(work, page.items);
    await readDaysOfRuns(work);
    goOn(work, 'end', 0);
  }
}

const NO_TIME: Record<Phase, number> = { earlier: 0, windows: 0, runs: 0, end: 0 };

function goOn(work: Reconciliation, phase: Phase, nextMs: number): void {
  Object.assign(work.kept, { phase, nextMs });
  work.keep();
}

/** Windows show the orders of runs that were started from then on: the zone that is farthest behind UTC is 12 h behind. */
const firstRunMs = ({ fromMs }: ReconcileAccountInput): number => fromMs - AHEAD_OF_UTC_MS;

/** Orders that no window can show, though their balance changes may be within it: first, so that none comes late. */
async function readEarlier(work: Reconciliation): Promise<void> {
  const { kept, input } = work;
  work.progress.step = 'looking up our orders from before the window';
  kept.handled = [];
  if (kept.second) await takeAgain(work, kept.byId);
  else await compareRuns(work, { fromMs: 0, toMs: firstRunMs(input) });
  if (input.recover && !kept.second) await readOpenOrders(work);
}

/** The balance changes of orders that the first scan found by their ids. */
async function takeAgain(work: Reconciliation, ids: readonly string[]): Promise<void> {
  const view = new ServiceView();
  await readIds(work, view, ids);
  for (const { order_uuid, balance_changes } of view.orders.values()) {
    work.kept.handled.push(order_uuid);
    work.fold.take(balance_changes);
  }
}

/** After a loss nobody may be following orders that are older than the window. */
async function readOpenOrders(work: Reconciliation): Promise<void> {
  const { kept, input } = work;
  const span = { fromMs: input.toMs - OPEN_SINCE_MS, toMs: input.fromMs - ZONE_SLACK_MS };
  for (const status of OPEN_STATUSES) {
    for await (const one of windowsOf(work, span, { status })) {
      const compared = await comparePage(work, one, new Set(kept.handled));
      kept.handled.push(...compared.map(({ order_uuid }) => order_uuid));
    }
  }
  addNote(
    kept,
    `before the window only orders in the documented open statuses (${OPEN_STATUSES.join(', ')}) were looked for; ` +
      'use an earlier --from to see those in any other status',
  );
}

/** The service's orders, in windows that are no more than a page, each compared before the next one is read. */
async function readWindows(work: Reconciliation, span: Span): Promise<void> {
  const { kept, fold } = work;
  work.progress.step = 'reading the orders of the service';
  const handled = new Set(kept.handled);
  for await (const one of windowsOf(work, { ...span, fromMs: kept.nextMs })) {
    await comparePage(work, one, new Set([...handled, ...kept.edge.uuids]));
    kept.edge = edgeAfter(kept.edge, one);
    const newestMs = dateTimeMs(kept.edge.at);
    if (newestMs !== undefined) fold.foldBefore(serviceDateTime(newestMs - LIST_LAG_MS));
    // The pages of a second that is full count together, with the window after them.
    if (one.paged) continue;
    kept.nextMs = dateTimeMs(one.window.to) ?? kept.nextMs;
    work.keep();
  }
}

const dayAfter = (ms: number): number => (Math.floor(ms / DAY_MS) + 1) * DAY_MS;

async function* windowsOf(
  { reads, kept, progress }: Reconciliation,
  span: Span,
  filter: Pick<OrderListQuery, 'status'> = {},
): AsyncGenerator<WindowPage> {
  for await (const one of orderWindows(reads.orders(), span, filter)) {
    kept.windows += 1;
    progress.windows = kept.windows;
    if (one.paged)
      addNote(kept, `${placeOf(one.window)} is full: its orders may have shifted while its pages were read`);
    yield one;
  }
}

/** The orders of the last second that windows showed: they share it with the next one. */
export function edgeAfter(edge: Kept['edge'], { page, paged }: WindowPage): Kept['edge'] {
  if (page.items.length === 0) return edge;
  const timeOf = ({ created_at: at }: OrderListItem) => dateTimeMs(at ?? '');
  const newestMs = page.items.reduce((newest, item) => Math.max(newest, timeOf(item) ?? 0), 0);
  const last = page.items.filter((item) => (timeOf(item) ?? newestMs) >= newestMs - EDGE_MS);
  const uuids = last.map(({ order_uuid }) => order_uuid);
  return { at: serviceDateTime(newestMs), uuids: [...(paged ? edge.uuids : []), ...uuids] };
}

/** Our runs that no window showed, by the day on which they were started. */
async function readDaysOfRuns(work: Reconciliation): Promise<void> {
  const { kept, input, progress } = work;
  progress.step = 'looking up our orders that no window showed';
  const endMs = input.toMs + OUR_SLACK_MS;
  while (kept.nextMs < endMs) {
    const dayMs = dayAfter(kept.nextMs);
    const toMs = dayMs > Date.now() ? endMs : Math.min(dayMs, endMs);
    await compareRuns(work, { fromMs: kept.nextMs, toMs });
    kept.nextMs = toMs;
    work.keep();
  }
}
