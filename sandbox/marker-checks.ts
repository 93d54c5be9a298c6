import { ORDER_PLACES } from './fault-types.js';
import { parseFault } from './faults.js';
import { type Marker, markerNumber, readMarker } from './markers.js';
import { DUPLICATE_MODES } from './options.js';

const NUMBERS = [
  'then_ms',
  'times',
  'status_times',
  'list_times',
  'later_ms',
  'slow_ms',
  'lag_ms',
  'status_lag_ms',
  'list_lag_ms',
  'callback_copies',
] as const;

/**
 * Reads the marker of a text and refuses a wrong one: a fault that silently never happens makes a test worthless. Throws
 * RangeError.
 */
export function checkedMarker(text: string | null | undefined, createPlace: 'create' | 'address-create'): Marker {
  const marker = readMarker(text);
  for (const key of ORDER_PLACES) {
    const name = marker[key];
    if (name === undefined) continue;
    const chosen = parseFault(key === 'create' ? createPlace : key, name);
    // Whose request it is, is known only after the body was read.
    if (!chosen || chosen.fault.unread) throw new RangeError(`unknown sandbox fault at ${key}`);
  }
  const { duplicate, callback } = marker;
  if (duplicate !== undefined && !(DUPLICATE_MODES as readonly string[]).includes(duplicate)) {
    throw new RangeError('sandbox marker duplicate must be one of a to e');
  }
  if (callback !== undefined && callback !== 'drop') throw new RangeError('sandbox marker callback must be drop');
  for (const key of NUMBERS) markerNumber(marker, key);
  return marker;
}
