import type { Amount } from '../money.js';
import { add, HOUR_MS, hourOf, isCompared, isOfPayee, type Ledger, openLedger, ownKeys } from './ledger.js';

const DAY_HOURS = 24;
/** Longest period, with a margin for whole days. */
const KEPT_MS = 32 * DAY_HOURS * HOUR_MS;
/** Hours that stay apart. Older ones become days, so that a state fits into one history event. */
const HOURLY_MS = 26 * HOUR_MS;
/* Most bytes of the parts of a state. Sums of currencies come on top: an event takes 2 MiB. */
const MOST_BYTES = { open: 500_000, payees: 550_000, payouts: 450_000, paid: 280_000 };
/** Last hour of the day of an hour. */
const lastHourOf = (hour: number): number => hour - (hour % DAY_HOURS) + DAY_HOURS - 1;

/** Amount of a key in an hour. */
type Part = readonly [key: string, hour: number, amount: Amount];

function partsOf({ sums, payouts }: Ledger): Part[] {
  const added = Object.entries(sums).flatMap(([key, hours]) =>
    Object.entries(hours).map(([hour, amount]): Part => [key, Number(hour), amount]),
  );
  const compared = Object.entries(payouts).flatMap(([same, hours]) =>
    Object.entries(hours).flatMap(([hour, orderIds]) =>
      orderIds.map((orderId): Part => [`= ${same} ${orderId}`, Number(hour), '1']),
    ),
  );
  return [...added, ...compared];
}

/** Makes the state small enough for the next run. What it drops counts in full, or parks. */
export function prune(ledger: Ledger, nowMs: number): Ledger {
  const pruned: Ledger = { ...ledger, ...openLedger() };
  const keptAtMs = (atMs: number): number => {
    const last = lastHourOf(hourOf(atMs));
    return (last + 1) * HOUR_MS < nowMs - HOURLY_MS ? last * HOUR_MS : atMs;
  };
  const whole = openLedger();
  for (const [key, hour, amount] of partsOf(ledger)) {
    const atMs = hour * HOUR_MS;
    if (atMs + HOUR_MS >= nowMs - KEPT_MS) add(whole, key, keptAtMs(atMs), amount, 1);
  }
  const parts = partsOf(whole)
    .reverse()
    .sort(([, a], [, b]) => b - a);
  const kept = parts.filter(([key]) => !isOfPayee(key));
  for (const kind of ['payees', 'payouts'] as const) {
    const own = parts.filter(([key]) => isOfPayee(key) && isCompared(key) === (kind === 'payouts'));
    const fit = fitting(own, MOST_BYTES[kind]);
    const [, lostHour] = own[fit.length] ?? [];
    const field = `${kind}LostUntilMs` as const;
    if (lostHour !== undefined) pruned[field] = Math.max(pruned[field] ?? 0, (lostHour + 1) * HOUR_MS);
    kept.push(...fit);
  }
  for (const [key, hour, amount] of kept.reverse()) add(pruned, key, hour * HOUR_MS, amount, 1);
  const paid = Object.entries(ledger.paid).sort(([, a], [, b]) => b - a);
  pruned.paid = ownKeys(Object.fromEntries(fitting(paid, MOST_BYTES.paid)));
  const open = Object.entries(ledger.open).sort(([, a], [, b]) => b.atMs - a.atMs);
  // A reservation moves with its hour, so that its end corrects what was added for it.
  const moved = open.map(([orderId, one]) => [orderId, { ...one, atMs: keptAtMs(one.atMs) }] as const);
  pruned.open = ownKeys(Object.fromEntries(fitting(moved, MOST_BYTES.open)));
  return pruned;
}

/** Returns the first entries that fit into so many bytes of JSON. */
function fitting<T>(entries: readonly T[], bytes: number): T[] {
  let left = bytes;
  return entries.filter((one) => {
    left -= new TextEncoder().encode(JSON.stringify(one)).length;
    return left >= 0;
  });
}
