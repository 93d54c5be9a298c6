import { chance, pick } from './chance.js';
import { type ChosenFault, ORDER_PLACES, type OrderPlace, type Place, parseFault } from './faults.js';
import { markerNumber } from './markers.js';
import type { SandboxOptions, SandboxSettings } from './options.js';
import type { Store } from './store.js';
import type { Traffic } from './traffic.js';

/** Options with every default filled in. */
export type ResolvedOptions = Required<Omit<SandboxOptions, 'dataDir' | 'settings'>>;

/** What all parts of a running sandbox share. */
export interface World {
  readonly options: ResolvedOptions;
  readonly store: Store;
  settings: SandboxSettings;
  readonly traffic: Traffic;
  /** How many draws were made per place and order, so that each request draws anew. */
  readonly draws: Map<string, number>;
  redirectHits: number;
}

const TIMES_KEY = { create: 'times', status: 'status_times', list: 'list_times' } as const;

/** Which request about the order this is, from 1, counted from its first create. Look-ups count themselves here. */
function requestNumber(world: World, place: OrderPlace, orderId: string): number {
  const watch = world.store.watches.get(orderId);
  if (!watch) return 0;
  if (place === 'create') return watch.creates;
  watch.looks[place] += 1;
  return watch.looks[place];
}

const isOrderPlace = (place: Place): place is OrderPlace => (ORDER_PLACES as readonly string[]).includes(place);

/** A fault and the number of the request it meets, from 1. */
export type FaultNow = ChosenFault & { n: number };

/** The fault of a request, if any: the order's marker first, then the rates. */
export function chooseFault(world: World, place: Place, orderId: string): FaultNow | undefined {
  const marked = isOrderPlace(place) ? markedFault(world, place, orderId) : undefined;
  return marked ?? drawnFault(world, place, orderId);
}

function markedFault(world: World, place: OrderPlace, orderId: string): FaultNow | undefined {
  const n = requestNumber(world, place, orderId);
  const marker = world.store.watches.get(orderId)?.marker ?? {};
  const name = marker[place];
  const chosen = name === undefined ? undefined : parseFault(place, name);
  if (!chosen) return undefined;
  const times = markerNumber(marker, TIMES_KEY[place]) ?? (chosen.fault.lasts ? Number.POSITIVE_INFINITY : 1);
  return n <= times ? { ...chosen, n } : undefined;
}

function drawnFault({ settings, options, draws }: World, place: Place, orderId: string): FaultNow | undefined {
  const rates = Object.entries(settings.faults)
    .filter(([key]) => key.startsWith(`${place}.`))
    .map(([key, rate]) => [key.slice(place.length + 1), rate] as const);
  if (rates.length === 0) return undefined;
  const key = `${place} ${orderId}`;
  const n = (draws.get(key) ?? 0) + 1;
  draws.set(key, n);
  const name = pick(rates, chance(options.seed, `fault ${key} ${n}`));
  const chosen = name === undefined ? undefined : parseFault(place, name);
  return chosen && { ...chosen, n };
}
