import type { Client } from '@temporalio/client';
import { maskName } from '../../contract/masking.js';
import { AHEAD_OF_UTC_MS } from '../../contract/reconcile/input.js';
import type { MalformedItem, ReconcileAccountInput, ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import {
  type Balance,
  type Balances,
  isFinal,
  isMalformed,
  type Order,
  type OrderListItem,
} from '../../contract/service-objects.js';
import { PaymentServiceError } from '../../payment-service/errors.js';
import { orderWindows, type Page, ZONE_SLACK_MS } from '../../payment-service/paging.js';
import type { OrderListQuery } from '../../payment-service/queries.js';
import type { Account } from '../deps.js';
import { noReading } from '../failures.js';
import { balanceIn, readBalances } from '../order/balances.js';
import type { PacedReads } from '../paced-reads.js';
import { addsUp } from './balance-chain.js';
import { referencesOf } from './followers.js';
import { listOurRuns, type OurRun } from './our-runs.js';

/** Our clock and the service's dates may differ by a time zone on each side: so far outside the window our runs are sought. */
const OUR_SLACK_MS = 2 * ZONE_SLACK_MS;
/** How far back orders that are not final are looked for after a loss, however old they are. */
const OPEN_SINCE_MS = 366 * 86_400_000;
const OPEN_STATUSES = ['new', 'processing'];
/** Half a page: where the service executed an order twice, both must fit onto it. */
const IDS_AT_ONCE = 500;

/** What the steps of one reconciliation work with. */
export interface Reconciliation {
  account: Account;
  client: Client;
  reads: PacedReads;
  input: ReconcileAccountInput;
  progress: ReconcileProgress;
}

/** Both sides, read once. `balances`: what did not move while it was read; absent where the service gave no answer. */
export interface Scan {
  view: ServiceView;
  runs: ReadonlyMap<string, OurRun>;
  /** The reference of the address that an order is a receipt on; undefined for every other order. */
  refOf: (order: SeenOrder) => Promise<string | undefined>;
  /** When it began, on this worker's clock. */
  atMs: number;
  balances?: ReadonlyMap<string, { before?: Balance; after?: Balance }>;
}

/** Reads both sides, the service first: an order that is started meanwhile is then among our workflows, and looked up. */
export async function scan(work: Reconciliation): Promise<Scan> {
  const { client, input, progress } = work;
  const atMs = Date.now();
  const view = new ServiceView(progress);
  const before = await balancesOf(work);
  progress.step = 'reading the orders of the service';
  await readWindows(work, view, { fromMs: input.fromMs - ZONE_SLACK_MS, toMs: input.toMs + ZONE_SLACK_MS });
  if (input.recover) await readOpenOrders(work, view);
  progress.step = 'reading our workflows';
  const runs = await listOurRuns(client, input.account, {
    endedSinceMs: input.fromMs - OUR_SLACK_MS,
    startedUntilMs: input.toMs + OUR_SLACK_MS,
  });
  progress.step = 'looking up our orders that no window showed';
  await readUnseen(work, view, runs);
  const after = await balancesOf(work);
  const unreadable = Object.entries(after ?? {}).flatMap(([currency, entry]) => (isMalformed(entry) ? [currency] : []));
  if (unreadable.length > 0) view.notes.add(`balances that cannot be read were not compared: ${unreadable.join(', ')}`);
  return { view, runs, atMs, refOf: referencesOf(work, view), ...together(before, after) };
}

async function readWindows(
  { reads, progress }: Reconciliation,
  view: ServiceView,
  span: { fromMs: number; toMs: number },
  filter: Pick<OrderListQuery, 'status'> = {},
): Promise<void> {
  const list = (query: OrderListQuery) => reads.ask((service, options) => service.listOrders(query, options));
  for await (const { window, page, paged } of orderWindows(list, span, filter)) {
    const place = `window ${window.from} to ${window.to}`;
    view.take(page, place);
    progress.windows += 1;
    if (paged) view.notes.add(`${place} is full: its orders may have shifted while its pages were read`);
  }
}

/** After a loss nobody may be following orders that are older than the window. */
async function readOpenOrders(work: Reconciliation, view: ServiceView): Promise<void> {
  const { fromMs, toMs } = work.input;
  for (const status of OPEN_STATUSES) {
    await readWindows(work, view, { fromMs: toMs - OPEN_SINCE_MS, toMs: fromMs }, { status });
  }
  view.notes.add(
    `before the window only orders in the documented open statuses (${OPEN_STATUSES.join(', ')}) were looked for; ` +
      'use an earlier --from to see those in any other status',
  );
}

/** True for runs of the window: a balance change that the service dates into it may have happened that long before. */
export const belongs = ({ endedAtMs }: OurRun, { fromMs }: ReconcileAccountInput): boolean =>
  endedAtMs === undefined || endedAtMs >= fromMs - AHEAD_OF_UTC_MS;

async function readUnseen(work: Reconciliation, view: ServiceView, runs: ReadonlyMap<string, OurRun>): Promise<void> {
  const unseen: string[] = [];
  for (const run of runs.values()) {
    if (!belongs(run, work.input) || isSeen(view, run)) continue;
    // Forged callbacks start such runs by the thousand, and a receipt that does exist would be in a window.
    if (run.received && run.noOrder) continue;
    // The list knows no look-up by order_uuid.
    const orderId = run.received ? (await statusOf(work, run.orderId))?.user_order_id : run.orderId;
    if (orderId) unseen.push(orderId);
  }
  await readIds(work, view, [...new Set(unseen)]);
}

/** Looks orders up by their ids, each named once. */
export async function readIds({ reads }: Reconciliation, view: ServiceView, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE);
    const query = { order_ids: some, limit: 2 * IDS_AT_ONCE };
    const page = await reads.ask((service, options) => service.listOrders(query, options));
    if (page.items.some((item) => !some.includes(item.user_order_id))) {
      throw noReading('the order list shows orders of other ids: its filter was ignored');
    }
    view.take(page, `look-up of ${some.length} order ids from ${shownId(some[0] ?? '')} on`);
  }
}

/** True when a window showed the order of a run. */
export const isSeen = (view: ServiceView, { received, orderId }: OurRun): boolean =>
  received ? view.orders.has(orderId) : view.uuidsById.has(orderId);

/** An order by the status operation; undefined where that does not show it. */
export async function statusOf({ reads }: Reconciliation, orderUuid: string): Promise<Order | undefined> {
  const { order } = await reads.ask((service, options) => service.orderStatus({ order_uuid: orderUuid }, options));
  return order?.order_uuid === orderUuid ? order : undefined;
}

/** Balances are a help and no condition: without an answer they are not compared. */
async function balancesOf({ account, reads, progress }: Reconciliation): Promise<Balances | undefined> {
  progress.step = 'reading balances';
  try {
    return await reads.ask((_, options) => readBalances(account, options));
  } catch (error) {
    if (error instanceof PaymentServiceError) return undefined;
    throw error;
  }
}

/** One that cannot be read is there all the same, with neither: it is not empty. */
function together(before?: Balances, after?: Balances): Pick<Scan, 'balances'> {
  if (!before || !after) return {};
  const currencies = new Set([...Object.keys(before), ...Object.keys(after)]);
  const both = (name: string) => ({ before: balanceIn(before, name), after: balanceIn(after, name) });
  return { balances: new Map([...currencies].map((name) => [name, both(name)])) };
}

const KEPT = [
  'order_uuid',
  'user_order_id',
  'order_type',
  'status',
  'amount_from',
  'amount_to',
  'amount_from_fee',
  'amount_to_fee',
  'currency_from',
  'currency_to',
  'deposit_address',
  'deposit_memo',
  'created_at',
  'start_order_at',
  'balance_changes',
] as const satisfies (keyof OrderListItem)[];

/** The ids of orders that others named may be anything; only these can be ids of ours, follow-ups included. */
export const isOwnId = (id: string): boolean => /^[A-Za-z0-9._:-]{1,126}$/.test(id);

/** Ids that others chose may hold anything, such as an e-mail: what could not be an id of ours is masked. */
export const shownId = (id: string): string => (isOwnId(id) ? id : maskName(id));

/** An order of the service as far as it is compared: a hundred thousand of them must fit into memory. */
export type SeenOrder = Pick<OrderListItem, (typeof KEPT)[number]> & {
  /** The whole item, of orders that are not final: a follower may have to be started from it. */
  item?: OrderListItem;
};

/** What an item keeps of itself. */
export function seen(item: OrderListItem): SeenOrder {
  const kept = Object.fromEntries(KEPT.map((field) => [field, item[field]])) as unknown as SeenOrder;
  return isFinal(item.status) ? kept : { ...kept, item };
}

/** Everything one pass read from the order list; each order once, as it was read last. */
export class ServiceView {
  readonly orders = new Map<string, SeenOrder>();
  /** The order_uuids under an order id; more than one means that the service executed it twice. */
  readonly uuidsById = new Map<string, Set<string>>();
  readonly malformed: MalformedItem[] = [];
  readonly notes = new Set<string>();

  constructor(readonly progress: ReconcileProgress) {}

  /** Takes a page; `place` says where it was, for what cannot be read on it. */
  take(page: Page<OrderListItem>, place: string): void {
    for (const item of page.items) {
      // Windows share their boundaries: what is wrong with an order is said once.
      if (!this.orders.has(item.order_uuid)) this.#check(item);
      this.orders.set(item.order_uuid, seen(item));
      const uuids = this.uuidsById.get(item.user_order_id) ?? new Set();
      this.uuidsById.set(item.user_order_id, uuids.add(item.order_uuid));
    }
    for (const { index, reason } of page.malformed) {
      this.malformed.push({ place: `${place}, item ${index + 1} of ${page.total}`, reason });
    }
    this.progress.seen = this.orders.size;
  }

  #check({ order_uuid: uuid, balance_changes: changes }: OrderListItem): void {
    for (const [index, change] of changes.entries()) {
      if (addsUp(change)) continue;
      const place = `order ${uuid}, balance change ${index + 1} of ${changes.length}`;
      this.malformed.push({ place, reason: 'amount_before and amount_change do not add up to amount_after' });
    }
  }
}
