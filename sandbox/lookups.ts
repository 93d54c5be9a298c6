import { type Answer, refusal, success } from './answer.js';
import { chance } from './chance.js';
import { chooseFault, withFault } from './choose-fault.js';
import type { Life } from './life.js';
import { type Marker, markerNumber } from './markers.js';
import { check, STATUS_SCHEMA } from './requests.js';
import { ownUuid } from './shape-faults.js';
import type { StoredOrder } from './stored.js';
import type { World } from './world.js';

/** True when an order is one of the share to which `visibilityLagMs` applies. */
export const lagsByRate = (seed: string, orderId: string, rate: number): boolean =>
  chance(seed, `lag ${orderId}`) < rate;

/** True while the order is not shown yet: a replica that lags behind. Lists ask this of every order, so the draw is last. */
export function lags({ store, settings, options }: World, place: 'status' | 'list', stored: StoredOrder): boolean {
  const { key, createdAtMs } = stored;
  const { visibilityLagMs, visibilityLagRate } = settings;
  if (visibilityLagMs === 0 && !store.lagging.has(key)) return false;
  const ageMs = Date.now() - createdAtMs;
  const markedMs = markedLagMs(store.markerOf(key), place);
  if (markedMs !== undefined) return ageMs < markedMs;
  return ageMs < visibilityLagMs && lagsByRate(options.seed, key, visibilityLagRate);
}

/** The lag that an order is marked with, in place of the one of the settings. */
const markedLagMs = (marker: Marker, place: 'status' | 'list'): number | undefined =>
  markerNumber(marker, place === 'status' ? 'status_lag_ms' : 'list_lag_ms') ?? markerNumber(marker, 'lag_ms');

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
export function answerStatus(world: World, life: Life, value: unknown): Answer {
  const { order_id: orderId, order_uuid: uuid } = check(STATUS_SCHEMA, value);
  const { store } = world;
  const asked =
    uuid === undefined ? store.ordersOf(orderId ?? '')[0] : (store.shown(uuid) ?? store.shown(ownUuid(uuid)));
  const key = asked?.key ?? orderId ?? '';
  const chosen = chooseFault(world, 'status', key);
  life.looked(key);
  const stored = asked && store.orders.get(asked.order.order_uuid);
  const seen = stored && !lags(world, 'status', stored) && !chosen?.fault.hides?.(chosen.n);
  const plain = seen ? success(stored.order) : unknownOrder(world.settings.unknownMode);
  return withFault(plain, chosen, store.markerOf(key));
}
