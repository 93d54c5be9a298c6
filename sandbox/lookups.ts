import { type Answer, refusal, success } from './answer.js';
import { chance } from './chance.js';
import { withFault } from './faults.js';
import { markerNumber } from './markers.js';
import type { StoredOrder } from './orders.js';
import { check, LIST_SCHEMA, type ListQuery, STATUS_SCHEMA } from './requests.js';
import { chooseFault, type World } from './world.js';

/** True when an order is one of the share to which `visibilityLagMs` applies. */
export const lagsByRate = (seed: string, orderId: string, rate: number): boolean =>
  chance(seed, `lag ${orderId}`) < rate;

/** True while the order is not shown yet: a replica that lags behind. */
function lags(world: World, place: 'status' | 'list', stored: StoredOrder): boolean {
  const marker = world.store.watches.get(stored.order.user_order_id)?.marker ?? {};
  const ownMs = place === 'status' ? markerNumber(marker, 'status_lag_ms') : markerNumber(marker, 'list_lag_ms');
  const { visibilityLagMs, visibilityLagRate } = world.settings;
  const commonMs = lagsByRate(world.options.seed, stored.order.user_order_id, visibilityLagRate) ? visibilityLagMs : 0;
  const lagMs = Math.max(commonMs, markerNumber(marker, 'lag_ms') ?? 0, ownMs ?? 0);
  return Date.now() < stored.createdAtMs + lagMs;
}

function unknownOrder(mode: World['settings']['unknownMode']): Answer {
  switch (mode) {
    case 'a':
      return refusal(400, 'order not found');
    case 'b':
      return refusal(404, 'order not found');
    case 'c':
      return { status: 200, body: { status: 'error' } };
    case 'd':
      return success(null);
    case 'e':
      return success([]);
  }
}

/** Answers the order status operation. Throws BadRequest. */
export function answerStatus(world: World, value: unknown): Answer {
  const { order_id: orderId, order_uuid: uuid } = check(STATUS_SCHEMA, value);
  const stored = uuid === undefined ? world.store.ordersOf(orderId ?? '')[0] : world.store.orders.get(uuid);
  const id = stored?.order.user_order_id ?? orderId ?? '';
  const chosen = chooseFault(world, 'status', id);
  const seen = stored && !lags(world, 'status', stored) && !chosen?.fault.hides?.(chosen.n);
  const plain = seen ? success(stored.order) : unknownOrder(world.settings.unknownMode);
  return withFault(plain, chosen, world.store.watches.get(id)?.marker ?? {});
}

function matches({ order }: StoredOrder, query: ListQuery): boolean {
  const equal = (['currency_from', 'network_from', 'currency_to', 'network_to', 'order_type', 'status'] as const).every(
    (field) => query[field] === undefined || order[field] === query[field],
  );
  const since = query.date_from === undefined || order.created_at >= query.date_from;
  return equal && since && (query.date_to === undefined || order.created_at <= query.date_to);
}

/** The order ids a query asks for; undefined when it asks for none. */
function wantedIds(query: ListQuery): Set<string> | undefined {
  const { order_id: one, order_ids: many } = query;
  if (one === undefined) return many && new Set(many);
  return new Set(many === undefined || many.includes(one) ? [one] : []);
}

/** A list item: no client_info, but the balance changes. */
function listItem({ order, balanceChanges }: StoredOrder): Record<string, unknown> {
  const { client_info: _, ...rest } = order;
  return { ...rest, balance_changes: balanceChanges };
}

/** Answers the order list operation. Throws BadRequest. */
export function answerList(world: World, value: unknown): Answer {
  const query = check(LIST_SCHEMA, value);
  const { store } = world;
  const ids = wantedIds(query);
  const asked = ids ? [...ids] : [...store.watches].filter(([, { marker }]) => marker.list).map(([id]) => id);
  const chosen = (asked.length === 0 ? [''] : asked).flatMap((id) => {
    const fault = chooseFault(world, 'list', id);
    return fault ? [{ ...fault, id }] : [];
  });
  const hidden = new Set(chosen.filter(({ fault, n }) => fault.hides?.(n)).map(({ id }) => id));
  const filtered = ids && !chosen.some(({ fault }) => fault.ignoresFilter);
  const candidates = filtered ? [...ids].flatMap((id) => store.ordersOf(id)) : [...store.orders.values()];
  const found = candidates
    .filter((stored) => !hidden.has(stored.order.user_order_id) && !hidden.has(''))
    .filter((stored) => !lags(world, 'list', stored) && matches(stored, query))
    // Identifiers are random: sorted by them the list is in no useful order, but always in the same.
    .sort((a, b) => (a.order.order_uuid < b.order.order_uuid ? -1 : 1));
  const first = (query.page - 1) * query.limit;
  const plain = success(found.slice(first, first + query.limit).map(listItem));
  // One answer can be broken once; what only hides orders has done so above.
  const met = chosen.find(({ fault }) => fault.answer) ?? chosen[0];
  return withFault(plain, met, store.watches.get(met?.id ?? '')?.marker ?? {});
}
