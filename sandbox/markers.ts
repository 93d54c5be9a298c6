/**
 * A marker in an order's description decides the fate of that one order:
 * `[sandbox outcome=completed_partially left=unpaid fraction=0.4 create=500-after callback=drop]`.
 */

/** The keys of a marker; README.md explains each. */
export const MARKER_KEYS = [
  'outcome',
  'left',
  'fraction',
  'stage',
  'paid',
  'rate',
  'fees',
  'pay_ms',
  'after_ms',
  'after_looks',
  'then',
  'then_ms',
  'create',
  'times',
  'later_ms',
  'slow_ms',
  'retry_after',
  'field',
  'status',
  'status_times',
  'list',
  'list_times',
  'lag_ms',
  'status_lag_ms',
  'list_lag_ms',
  'duplicate',
  'callback',
  'callback_copies',
] as const;

/** A key of a marker. */
export type MarkerKey = (typeof MARKER_KEYS)[number];

/** A read marker: only the keys that were given. */
export type Marker = Partial<Record<MarkerKey, string>>;

const isKey = (key: string): key is MarkerKey => (MARKER_KEYS as readonly string[]).includes(key);

/** Reads the marker of a description; {} without one. Throws RangeError on an unknown key, so that typing errors show. */
export function readMarker(description: string | null | undefined): Marker {
  const inside = /\[sandbox((?: +[a-z_]+=[^\s\]]+)*) *\]/.exec(description ?? '')?.[1];
  const marker: Marker = {};
  for (const word of inside?.trim().split(/ +/) ?? []) {
    const [key = '', value = ''] = word.split(/=(.*)/s);
    if (key === '') continue;
    if (!isKey(key)) throw new RangeError(`unknown sandbox marker ${key}`);
    marker[key] = value;
  }
  return marker;
}

/** A number of the marker; undefined when not given. Throws RangeError on anything that is no number ≥ 0. */
export function markerNumber(marker: Marker, key: MarkerKey): number | undefined {
  const value = marker[key];
  if (value === undefined) return undefined;
  if (value === 'all') return Number.POSITIVE_INFINITY;
  if (!/^\d+(\.\d+)?$/.test(value)) throw new RangeError(`sandbox marker ${key} must be a number`);
  return Number(value);
}
