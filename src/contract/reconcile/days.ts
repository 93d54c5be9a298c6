import type { Amount } from '../money.js';
import type { Balances } from '../service-objects.js';
import { DAY_MS, type ReconcileTask, type Span, ZONE_SLACK_MS } from './input.js';
import {
  AGREED_CLASSES,
  type CarriedBalance,
  DISAGREEING_CLASSES,
  type Finding,
  type ReconcileClass,
  type ReconcileResult,
} from './reconcile.js';

/** Data that the workflow `reconcile` and its activities exchange per day, of bounded size. */

/** Maximum rows of the report. Counts are always complete. */
export const MAX_ROWS = 3_000;
/** Maximum JSON size of these rows. A payload may have 2 MB. */
const MAX_ROWS_CHARACTERS = 1_200_000;
/** Balances before and after the changes of one second. */
interface BalanceSecond {
  at: string;
  left: Amount[];
  reached: Amount[];
}

/** Balance changes of one currency: sum, start and end. */
export interface BalanceBook {
  changes: number;
  sum: Amount;
  first: BalanceSecond;
  last: BalanceSecond;
  /** Changes after the first reading were left out. */
  isLater?: true;
  /** A change passed through the balance that an earlier run carried over. */
  passesCarried?: true;
}

/** State of a reconciliation between two days. */
export interface ReconcileTotals
  extends Pick<ReconcileResult, 'seen' | 'windows' | 'classes' | 'malformed' | 'malformedCount' | 'notes'> {
  /** Orders (uuids) of the last second, which the next window shows again. */
  edge: string[];
  books: Record<string, BalanceBook>;
  /** The address list was read, and its unreadable entries were reported. */
  addressesRead?: true;
}

/** Balances before the orders; `before` is absent without an answer. */
export interface BalancesBefore {
  before?: Balances;
  carried: CarriedBalance[];
}

/** Input of `readBalances`. `atMs`: start of the reconciliation. */
export interface ReconcileBegin extends ReconcileTask {
  atMs: number;
  totals: ReconcileTotals;
}

/** Input of `reconcileDay`. Day 0 is the time before the window. */
export interface ReconcileDay extends ReconcileBegin {
  day: Span;
  carried: CarriedBalance[];
  /**
   * Set for the second reading, of balance changes only: each currency's latest change in the
   * first.
   */
  until?: Record<string, string>;
}

export interface DayFound {
  totals: ReconcileTotals;
  rows: Finding[];
}

export interface BalancesRead extends ReconcileBegin, BalancesBefore {}

/**
 * Result of the balance proof. `againMs`: gaps count only if a second reading after this time finds
 * them.
 */
export type Proof = Required<Pick<ReconcileResult, 'chains' | 'gaps' | 'gapCount' | 'notes' | 'balances'>> & {
  againMs: number;
};

/** Input of `reportReconcile`: the gravest rows, and the rest of the report. */
export interface ReconcileReport {
  rows: Finding[];
  found: Omit<ReconcileResult, 'disagreements' | 'report'>;
}

export const emptyTotals = (): ReconcileTotals => ({
  seen: 0,
  windows: 0,
  classes: Object.fromEntries(
    [...AGREED_CLASSES, ...DISAGREEING_CLASSES].map((name) => [name, 0]),
  ) as ReconcileTotals['classes'],
  malformed: [],
  malformedCount: 0,
  notes: [],
  edge: [],
  books: {},
});

/** Returns the time before the window, and its days. Both ends have slack. */
export function daysOf({ fromMs, toMs }: Span): Span[] {
  const beginMs = fromMs - ZONE_SLACK_MS;
  const days: Span[] = [{ fromMs: 0, toMs: beginMs }];
  for (let atMs = beginMs; atMs < toMs; atMs += DAY_MS) {
    days.push({ fromMs: atMs, toMs: atMs + DAY_MS < toMs ? atMs + DAY_MS : toMs + ZONE_SLACK_MS });
  }
  return days;
}

/** Classes with a row in the report, the gravest first; what was mended comes last. */
export const REPORTED_CLASSES: readonly ReconcileClass[] = [
  ...DISAGREEING_CLASSES,
  'receiptFollowed',
  'recovered',
  'woken',
];

/** Returns the gravest rows that have room beside those counted before. */
export function gravestRows(rows: readonly Finding[], before?: ReconcileTotals['classes']): Finding[] {
  const rank = (row: Finding) => REPORTED_CLASSES.indexOf(row.class);
  const graver = (row: Finding) =>
    REPORTED_CLASSES.slice(0, rank(row) + 1).reduce((sum, name) => sum + (before?.[name] ?? 0), 0);
  let room = MAX_ROWS_CHARACTERS;
  return rows
    .filter((row) => rank(row) >= 0)
    .sort((a, b) => rank(a) - rank(b))
    .filter((row, index) => {
      if (index + graver(row) >= MAX_ROWS) return false;
      room -= JSON.stringify(row).length;
      return room >= 0;
    });
}
