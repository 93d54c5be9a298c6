import type { Amount } from '../money.js';
import type { Balances } from '../service-objects.js';
import { type ReconcileTask, type Span, ZONE_SLACK_MS } from './input.js';
import {
  AGREED_CLASSES,
  type CarriedBalance,
  DISAGREEING_CLASSES,
  type Finding,
  type ReconcileClass,
  type ReconcileResult,
} from './reconcile.js';

/** What the workflow `reconcile` and its activities give each other, day by day. Plain JSON, however many orders there are. */

/** Rows of the report; their counts are complete. */
export const MAX_ROWS = 3_000;
/** Size of these rows as JSON; a payload may have 2 MB. */
const MAX_ROWS_CHARACTERS = 1_200_000;
const DAY_MS = 86_400_000;

/** Balances of one second that its changes left, and those that they reached. */
interface BalanceSecond {
  at: string;
  left: Amount[];
  reached: Amount[];
}

/** The balance changes of one currency: their sum, and where they begin and end. */
export interface BalanceBook {
  changes: number;
  sum: Amount;
  first: BalanceSecond;
  last: BalanceSecond;
  /** Changes were left out because they are later than the first reading. */
  isLater?: true;
  /** A change passed through the balance that an earlier run carried over. */
  passesCarried?: true;
}

/** What a reconciliation knows between two days. */
export interface ReconcileTotals
  extends Pick<ReconcileResult, 'seen' | 'windows' | 'classes' | 'malformed' | 'malformedCount' | 'notes'> {
  /** Orders of the last second that was read, which the next window shows again, by their uuids. */
  edge: string[];
  books: Record<string, BalanceBook>;
  /** The address list was read, and what cannot be read in it was reported. */
  addressesRead?: true;
}

/** Balances before the orders are read; `before` is absent if the service gave no answer. */
export interface BalancesBefore {
  before?: Balances;
  carried: CarriedBalance[];
}

/** Input of the activity `readBalances`. `atMs`: begin of the reconciliation. */
export interface ReconcileBegin extends ReconcileTask {
  atMs: number;
  totals: ReconcileTotals;
}

/** Input of the activity `reconcileDay`. `day` begins at 0: the time before the window. */
export interface ReconcileDay extends ReconcileBegin {
  day: Span;
  carried: CarriedBalance[];
  /** Second reading, of balance changes only: the latest change of each currency that the first one saw. */
  until?: Record<string, string>;
}

export interface DayFound {
  totals: ReconcileTotals;
  rows: Finding[];
}

export interface BalancesRead extends ReconcileBegin, BalancesBefore {}

/** What balances and balance changes prove. `againMs`: gaps count only if a second reading finds them after this time. */
export type Proof = Required<Pick<ReconcileResult, 'chains' | 'gaps' | 'gapCount' | 'notes' | 'balances'>> & {
  againMs: number;
};

/** Input of the activity `reportReconcile`: the gravest rows, and what the report holds beside them. */
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

/** The time before the window, and the days of the window; slack on both sides belongs to the first and the last one. */
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
