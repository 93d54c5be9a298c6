import { type Amount, decimal, decimalOrZero, sum, toAmount } from '../money.js';
import { extendedOrderId } from '../names.js';

/* Sums of an account over time. Pure: the policy workflow keeps the state, tests feed the times. */

export const HOUR_MS = 3_600_000;
/** Payouts of one payee and amount in an answer. */
export const MOST_MADE = 10;
/** Orders whose end one activity asks for. */
const MOST_CHECKED = 500;

/**
 * Amount added to a key: `usd` of the account, `usd <payee>`, `# <payee>` for a number, or
 * `= <same> <order id>` for a payout that is compared with later ones.
 */
export type Spend = readonly [key: string, amount: Amount];

/**
 * Highest total of a key within a time that ends now, a payee that must have been paid, or payouts
 * that other orders must not have made.
 */
export type Limit =
  | { key: string; windowMs: number; max: Amount }
  | { paid: string }
  | { same: readonly string[]; windowMs: number };

/** Payout of an order: payee and amount, as `same` of a limit, and the hour. */
export type MadePayout = readonly [same: string, orderId: string, atMs: number];

/** Question before a create. `reserve`: false for one that only asks. */
export interface PolicyQuestion {
  orderId: string;
  spends: readonly Spend[];
  limits: readonly Limit[];
  reserve: boolean;
  /** The service shows the order, so it counts. A reservation of it gets the keys that it lacks. */
  isFound?: true;
  /** Orders whose remainder it moves. They are final, though their workflows are open. */
  follows?: readonly string[];
}

/** Exceeded limit by its index. `total`: with the order; absent for payees that are not counted. */
export interface FailedLimit {
  index: number;
  total?: Amount;
  /** Payouts of other orders, newest first. */
  made?: MadePayout[];
  /** Payouts up to this time are not all known, or not all shown. */
  lostUntilMs?: number | undefined;
}

/** Answer: [] if the order may be sent. It is reserved then. */
export type PolicyAnswer = FailedLimit[];

/** Order that was allowed, until its end is known. It counts in full, in the hour of `atMs`. */
interface Reservation {
  atMs: number;
  spends: readonly Spend[];
  /** Absent until its end was asked for. */
  checkedAtMs?: number;
  /** Its create may have been in flight when the sums were read. It asks only if it was not. */
  isUnseen?: true;
}

/** State of the policy workflow, as its next run takes it over. */
export interface Ledger {
  /** By key and by the hour since the epoch in which it ends. */
  sums: Record<string, Record<string, Amount>>;
  /** Order ids by `same` of a limit and by hour, so that a question reads only what it names. */
  payouts: Record<string, Record<string, string[]>>;
  open: Record<string, Reservation>;
  /** Payees that were paid, with the hour of the last payment. */
  paid: Record<string, number>;
  /** How they were read; see `sumsId`. */
  of?: string;
  /** Figures of payees up to this time are incomplete. */
  payeesLostUntilMs?: number;
  /** Payouts up to this time are not all compared. */
  payoutsLostUntilMs?: number;
}

/** The end of an order. Without `spends`, everything that was reserved counts. */
export interface Settlement {
  orderId: string;
  spends?: readonly Spend[];
  /** Set if the paid amount is unknown: it counts, but as no earlier payment. */
  mayBeUnpaid?: true;
}

/** Keys are texts of callers: `constructor` is one as any other. */
export const ownKeys = <T>(entries: Record<string, T> = {}): Record<string, T> =>
  Object.assign(Object.create(null), entries);

/** Returns an empty state, or one that was a payload. */
export const openLedger = (kept?: Ledger): Ledger => ({
  ...kept,
  ...{ sums: ownKeys(kept?.sums), payouts: ownKeys(kept?.payouts) },
  ...{ open: ownKeys(kept?.open), paid: ownKeys(kept?.paid) },
});

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);
export const isOfPayee = (key: string): boolean => key.includes(' ');
export const isCompared = (key: string): boolean => key.startsWith('= ');

/** Adds to a key in the hour of a time. */
export function add(ledger: Ledger, key: string, atMs: number, amount: Amount, sign: 1 | -1): void {
  const hour = hourOf(atMs);
  if (isCompared(key)) {
    addPayout(ledger, key, hour, sign);
    return;
  }
  const { sums } = ledger;
  const hours = sums[key] ?? {};
  sums[key] = hours;
  const total = decimalOrZero(hours[hour]).plus(decimal(amount).times(sign));
  if (total.gt(0)) hours[hour] = toAmount(total);
  else delete hours[hour];
}

function addPayout({ payouts }: Ledger, key: string, hour: number, sign: 1 | -1): void {
  const [, same = '', ...id] = key.split(' ');
  const orderId = id.join(' ');
  const hours = payouts[same] ?? {};
  payouts[same] = hours;
  const orderIds = hours[hour] ?? [];
  hours[hour] = orderIds;
  const index = orderIds.lastIndexOf(orderId);
  if (sign > 0) orderIds.push(orderId);
  else if (index >= 0) orderIds.splice(index, 1);
}

/** Returns the total of a key since a time. A part of an hour counts as the whole hour. */
export function totalOf({ sums }: Pick<Ledger, 'sums'>, key: string, sinceMs: number): Amount {
  const hours = Object.entries(sums[key] ?? {}).filter(([hour]) => (Number(hour) + 1) * HOUR_MS > sinceMs);
  return toAmount(sum(hours.map(([, amount]) => decimal(amount))));
}

/** Compares with the payouts that other orders made since a time. */
function compare({ payouts, payoutsLostUntilMs = 0 }: Ledger, same: readonly string[], sinceMs: number, ownId: string) {
  let lostUntilMs = payoutsLostUntilMs > sinceMs ? payoutsLostUntilMs : undefined;
  const made = [...new Set(same)].flatMap((one) => {
    const newest = new Map<string, MadePayout>();
    for (const [orderId, hour] of newestFirst(payouts[one], sinceMs)) {
      if (extendedOrderId(orderId) === ownId || newest.has(orderId)) continue;
      if (newest.size === MOST_MADE) {
        lostUntilMs = Math.max(lostUntilMs ?? 0, (hour + 1) * HOUR_MS);
        break;
      }
      newest.set(orderId, [one, orderId, hour * HOUR_MS]);
    }
    return [...newest.values()];
  });
  const lost = lostUntilMs !== undefined && { lostUntilMs };
  return made.length > 0 || lost ? [{ made: made.sort(([, , a], [, , b]) => b - a), ...lost }] : [];
}

/** Returns the orders of the hours since a time. Hours are keys in ascending order. */
function* newestFirst(hours: Record<string, string[]> = {}, sinceMs: number): Generator<[string, number]> {
  for (const hour of Object.keys(hours).map(Number).reverse()) {
    if ((hour + 1) * HOUR_MS <= sinceMs) return;
    for (const orderId of (hours[hour] ?? []).toReversed()) yield [orderId, hour];
  }
}

/** Answers a question, and reserves the order if no limit fails. The same order counts once. */
export function judge(
  ledger: Ledger,
  { orderId, spends, limits, reserve, isFound }: PolicyQuestion,
  nowMs: number,
): PolicyAnswer {
  const known = isFound && ledger.open[orderId];
  if (known) {
    const lacking = spends.filter(([key]) => !known.spends.some(([one]) => one === key));
    reserveOrder(ledger, orderId, [...known.spends, ...lacking], known.atMs);
    return [];
  }
  const before = ledger.open[orderId];
  const own = (key: string) => sum(spends.flatMap(([one, amount]) => (one === key ? [decimal(amount)] : [])));
  const failed = limits.flatMap((limit, index): FailedLimit[] => {
    if ('paid' in limit) return ledger.paid[limit.paid] === undefined ? [{ index }] : [];
    const sinceMs = nowMs - limit.windowMs;
    if ('same' in limit)
      return compare(ledger, limit.same, sinceMs, extendedOrderId(orderId)).map((one) => ({ index, ...one }));
    if (isOfPayee(limit.key) && (ledger.payeesLostUntilMs ?? 0) > sinceMs) return [{ index }];
    const reserved = before && (hourOf(before.atMs) + 1) * HOUR_MS > sinceMs ? before.spends : [];
    const twice = sum(reserved.flatMap(([key, amount]) => (key === limit.key ? [decimal(amount)] : [])));
    const total = decimal(totalOf(ledger, limit.key, sinceMs))
      .minus(twice)
      .plus(own(limit.key));
    return total.gt(limit.max) ? [{ index, total: toAmount(total) }] : [];
  });
  if (failed.length === 0 && reserve) reserveOrder(ledger, orderId, spends, nowMs);
  // Any other reservation stays: the probe may still find that order.
  if (failed.length > 0 && reserve && before?.isUnseen) settle(ledger, { orderId, spends: [] });
  return failed;
}

/** Counts an order, in place of an earlier reservation of it. */
export function reserveOrder(
  ledger: Ledger,
  orderId: string,
  spends: readonly Spend[],
  atMs: number,
  mark: Pick<Reservation, 'isUnseen'> = {},
): void {
  const before = ledger.open[orderId];
  for (const [key, amount] of before?.spends ?? []) add(ledger, key, before?.atMs ?? 0, amount, -1);
  for (const [key, amount] of spends) add(ledger, key, atMs, amount, 1);
  delete ledger.open[orderId];
  ledger.open[orderId] = { atMs, spends, ...mark };
}

/** Corrects the sums by the end of an order. An order that is not open is ignored. */
export function settle(ledger: Ledger, { orderId, spends, mayBeUnpaid }: Settlement): void {
  const reserved = ledger.open[orderId];
  if (!reserved) return;
  delete ledger.open[orderId];
  const { atMs } = reserved;
  if (!spends) return;
  for (const [key, amount] of reserved.spends) add(ledger, key, atMs, amount, -1);
  for (const [key, amount] of spends) add(ledger, key, atMs, amount, 1);
  for (const [key] of mayBeUnpaid ? [] : spends) {
    if (key.startsWith('# ')) ledger.paid[key.slice(2)] = hourOf(atMs);
  }
}

const SOONEST_CHECK_MS = 5_000;

const nextCheckMs = ({ atMs, checkedAtMs = atMs }: Reservation): number =>
  checkedAtMs + Math.min(Math.max((checkedAtMs - atMs) / 2, SOONEST_CHECK_MS), HOUR_MS);

/** Returns the reserved orders whose end should be asked for, longest unasked first. */
export function dueOrders(ledger: Ledger, nowMs: number, soon = false): string[] {
  const dueMs = (one: Reservation) => (soon ? (one.checkedAtMs ?? 0) : nextCheckMs(one));
  return Object.entries(ledger.open)
    .filter(([, one]) => dueMs(one) <= nowMs)
    .sort(([, a], [, b]) => (a.checkedAtMs ?? 0) - (b.checkedAtMs ?? 0))
    .slice(0, MOST_CHECKED)
    .map(([orderId]) => orderId);
}

/** Returns when `dueOrders` has the next one; undefined without reservations. */
export function nextDueMs({ open }: Ledger): number | undefined {
  const next = Object.values(open).reduce((least, one) => Math.min(least, nextCheckMs(one)), Number.POSITIVE_INFINITY);
  return Number.isFinite(next) ? next : undefined;
}

/** Records that the end of these orders was asked for. */
export function noteChecked({ open }: Ledger, orderIds: readonly string[], nowMs: number): void {
  for (const orderId of orderIds) {
    const one = open[orderId];
    if (one) one.checkedAtMs = nowMs;
  }
}
