import { type Answer, changeItems, success } from './answer.js';
import { shuffled } from './chance.js';
import { drawnFault, type FaultNow, markedFault, withFault } from './choose-fault.js';
import { dateTimeMs } from './clock.js';
import type { Life } from './life.js';
import { lags } from './lookups.js';
import { addNewcomers } from './newcomers.js';
import { check, LIST_SCHEMA, type ListQuery } from './requests.js';
import type { StoredOrder } from './stored.js';
import type { World } from './world.js';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

/** A fault that a list answer meets: of the order with that key, or by rate. */
type ListFault = FaultNow & { key?: string };

/** Answers the order list operation. Throws BadRequest. */
export function answerList(world: World, life: Life, value: unknown): Answer {
  const { settings } = world;
  const asked = check(LIST_SCHEMA, value);
  const query = { ...asked, limit: Math.min(asked.limit, settings.listAtMost ?? asked.limit) };
  const ids = wantedIds(query, settings.orderIdsRead);
  const faults = faultsOf(world, ids);
  for (const id of ids ?? []) life.looked(world.store.ordersOf(id)[0]?.key ?? id);
  const found = findUpToPage(world, query, ids, faults);
  const first = (query.page - 1) * query.limit;
  const page = found.slice(first, first + query.limit);
  if (page.length === query.limit) addNewcomers(world, life);
  return brokenBy(world, faults, page);
}

/** The order ids a query asks for, as far as they are read; undefined when it asks for none. */
function wantedIds(query: ListQuery, read: readonly number[] | null): string[] | undefined {
  const { order_id: one, order_ids: all } = query;
  const many = read ? all?.slice(...read) : all;
  if (one === undefined) return many && [...new Set(many)];
  return many === undefined || many.includes(one) ? [one] : [];
}

function faultsOf(world: World, ids: readonly string[] | undefined): ListFault[] {
  const { store } = world;
  const keys = ids ? ids.map((id) => store.ordersOf(id)[0]?.key ?? id) : [...store.markedForLists];
  const marked = keys.flatMap((key) => {
    const fault = markedFault(world, 'list', key);
    return fault ? [{ ...fault, key }] : [];
  });
  if (marked.length > 0) return marked;
  // By rate a request fails or not, however many orders it asks for.
  const drawn = drawnFault(world, 'list', ids?.length === 1 ? (keys[0] ?? '') : '');
  return drawn ? [drawn] : [];
}

function findUpToPage(
  world: World,
  query: ListQuery,
  ids: readonly string[] | undefined,
  faults: readonly ListFault[],
): StoredOrder[] {
  const hiding = faults.filter(({ fault, n }) => fault.hides?.(n));
  if (hiding.some(({ key }) => key === undefined)) return [];
  const hidden = new Set(hiding.map(({ key }) => key));
  const filtered = faults.some(({ fault }) => fault.ignoresFilter) ? undefined : ids;
  const { settings, options, traffic } = world;
  const { listOrder } = settings;
  const matches = matcherOf(query);
  const found: StoredOrder[] = [];
  for (const stored of candidates(world, query, filtered)) {
    // Nobody sees what comes after the page, and the list may be long.
    if (listOrder === 'fixed' && found.length === query.page * query.limit) break;
    if (matches(stored) && !hidden.has(stored.key) && !lags(world, 'list', stored)) found.push(stored);
  }
  if (listOrder === 'fixed') return found;
  if (listOrder === 'random') return shuffled(found, options.seed, `list ${traffic.requests.length}`);
  const sign = listOrder === 'oldest' ? 1 : -1;
  return found.sort((a, b) => sign * (a.createdAtMs - b.createdAtMs));
}

/** The orders of a time window, or those of the wanted ids in it, in the list's fixed order. */
function candidates(
  { store, settings }: World,
  query: ListQuery,
  ids: readonly string[] | undefined,
): Iterable<StoredOrder> {
  const [fromMs, beforeMs] = windowOf(query, settings.dateFilterShiftHours);
  if (!ids) return store.index.between(fromMs, beforeMs);
  return ids
    .flatMap((id) => store.ordersOf(id))
    .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < beforeMs)
    .sort((a, b) => (a.order.order_uuid < b.order.order_uuid ? -1 : 1));
}

/** From when to before when, ms since the epoch. Both dates are inclusive and stand for their whole second. */
function windowOf({ date_from: from, date_to: to }: ListQuery, shiftHours: number): [fromMs: number, beforeMs: number] {
  const shiftMs = shiftHours * HOUR_MS;
  return [
    from === undefined ? Number.NEGATIVE_INFINITY : dateTimeMs(from) - shiftMs,
    to === undefined ? Number.POSITIVE_INFINITY : dateTimeMs(to) + SECOND_MS - shiftMs,
  ];
}

const FILTERS = ['currency_from', 'network_from', 'currency_to', 'network_to', 'order_type', 'status'] as const;

function matcherOf(query: ListQuery): (stored: StoredOrder) => boolean {
  const wanted = FILTERS.filter((field) => query[field] !== undefined);
  return ({ order }) => wanted.every((field) => order[field] === query[field]);
}

/** A list item: the balance changes, and no client_info, since JSON leaves out what is undefined. */
const listItem = ({ order, balanceChanges }: StoredOrder): Record<string, unknown> => ({
  ...order,
  client_info: undefined,
  balance_changes: balanceChanges,
});

/** One answer can be broken once, its items each; what only hides orders has done so before. */
function brokenBy({ store, settings }: World, faults: readonly ListFault[], page: readonly StoredOrder[]): Answer {
  const plain = success(page.map(listItem));
  const ofItems = faults.filter(({ fault }) => fault.item);
  const indexes = ofItems.map(({ key }) =>
    key === undefined ? settings.malformedIndex : page.findIndex((stored) => stored.key === key),
  );
  const change = ofItems[0]?.fault.item;
  const met = faults.find(({ fault }) => fault.answer) ?? faults[0];
  return withFault(change ? changeItems(plain, indexes, change) : plain, met, store.markerOf(met?.key ?? ''));
}
