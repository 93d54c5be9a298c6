import type { Answer } from './answer.js';
import { chance, pick } from './chance.js';
import type { ChosenFault, Place } from './fault-types.js';
import { parseFault } from './faults.js';
import { type Marker, markerNumber } from './markers.js';
import type { Watch } from './stored.js';
import type { World } from './world.js';

/** A fault and the number of the request it meets, from 1. */
export type FaultNow = ChosenFault & { n: number };

/** Places of a marker's keys: what the key of the fault is, and what counts how often it is met. */
const MARKER_KEYS = {
  create: ['create', 'times'],
  'address-create': ['create', 'times'],
  status: ['status', 'status_times'],
  list: ['list', 'list_times'],
} as const;

/** A place where markers work. */
export type MarkedPlace = keyof typeof MARKER_KEYS;

const isMarkedPlace = (place: Place): place is MarkedPlace => Object.hasOwn(MARKER_KEYS, place);

/** The fault of a request about one order or address, if any: its marker first, then the rates. */
export function chooseFault(world: World, place: Place, key: string): FaultNow | undefined {
  return (isMarkedPlace(place) ? markedFault(world, place, key) : undefined) ?? drawnFault(world, place, key);
}

/** The fault that the marker of an order or address asks for at this request, which counts. */
export function markedFault(world: World, place: MarkedPlace, key: string): FaultNow | undefined {
  const watch = world.store.watches.get(key);
  if (!watch) return undefined;
  const n = requestNumber(watch, place);
  const [faultKey, timesKey] = MARKER_KEYS[place];
  const name = watch.marker[faultKey];
  const chosen = name === undefined ? undefined : parseFault(place, name);
  if (!chosen) return undefined;
  const times = markerNumber(watch.marker, timesKey) ?? (chosen.fault.lasts ? Number.POSITIVE_INFINITY : 1);
  return n <= times ? { ...chosen, n } : undefined;
}

/** Which request it is, from 1, counted from the first create. Look-ups count themselves here. */
function requestNumber(watch: Watch, place: MarkedPlace): number {
  if (place === 'create' || place === 'address-create') return watch.creates;
  watch.looks[place] += 1;
  return watch.looks[place];
}

const prefixesOf = (place: Place): string[] =>
  place.startsWith('address-') ? [`${place}.`, 'address.'] : [`${place}.`];

/** The rates of a place's faults: those met before the body is read, or all others. */
function ratesOf(world: World, place: Place, unread: boolean): (readonly [string, number])[] {
  return Object.entries(world.settings.faults).flatMap(([key, rate]) => {
    const prefix = prefixesOf(place).find((candidate) => key.startsWith(candidate));
    const name = prefix && key.slice(prefix.length);
    return name && Boolean(parseFault(place, name)?.fault.unread) === unread ? [[name, rate] as const] : [];
  });
}

/** Draws by the rates of the settings; every request about a key draws anew. */
export function drawnFault(world: World, place: Place, key: string, unread = false): FaultNow | undefined {
  const rates = ratesOf(world, place, unread);
  if (rates.length === 0) return undefined;
  const about = `${place} ${key}`;
  const n = (world.draws.get(about) ?? 0) + 1;
  world.draws.set(about, n);
  const name = pick(rates, chance(world.options.seed, `fault ${about} ${n}`));
  const chosen = name === undefined ? undefined : parseFault(place, name);
  return chosen && { ...chosen, n };
}

/** The answer as the chosen fault leaves it; unchanged without one. */
export function withFault(plain: Answer, chosen: ChosenFault | undefined, marker: Marker): Answer {
  if (!chosen) return plain;
  return { ...(chosen.fault.answer?.(plain, marker) ?? plain), fault: chosen.name };
}
