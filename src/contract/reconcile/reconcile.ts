import type { ReportFile } from '../batch/batch.js';
import type { Amount } from '../money.js';
import type { FinalStatus } from '../service-objects.js';

/** Entries of each list of a result. The report on disk holds more of the rows, and the same of everything else. */
export const MAX_SHOWN = 100;

/** Age from which an order that is not final is reported, unless the input says otherwise. */
export const DEFAULT_OPEN_TOO_LONG_MS = 24 * 3_600_000;

/** Orders created between `from` and `to` (ISO, or `YYYY-MM-DD hh:mm:ss` in UTC); the last 72 h when omitted. */
export interface ReconcileInput {
  account?: string;
  from?: string;
  to?: string;
  /** Temporal's database was lost or is old: follow every order that is not final and that nobody follows. */
  recover?: boolean;
  openTooLongMs?: number;
}

/** Classes in which both sides agree, or were mended; `docs/reconciling.md` defines every class. */
export const AGREED_CLASSES = ['equal', 'open', 'noOrder', 'receiptFollowed', 'recovered', 'woken'] as const;

/** Classes that a person has to look at, the gravest first. */
export const DISAGREEING_CLASSES = [
  'duplicate',
  'verdictDiffers',
  'amountDiffers',
  'missingAtService',
  'stuck',
  'unresolved',
  'undecided',
  'openTooLong',
  'foreign',
] as const;

export type ReconcileClass = (typeof AGREED_CLASSES)[number] | (typeof DISAGREEING_CLASSES)[number];

/** One order as the report shows it. Dates, wallets and client data are left out. */
export interface Finding {
  class: ReconcileClass;
  order_id: string;
  order_uuid?: string;
  /** Caller's reference, by our workflow. */
  reference?: string;
  order_type?: string;
  /** At the service; absent where it shows none. */
  status?: string;
  /** Final status by our workflow; absent while it runs or without one. */
  verdict?: FinalStatus;
  /** Differences or actions, in words. */
  detail?: string;
}

/** Something that could not be read, and where it stands. Never its content. */
export interface MalformedItem {
  place: string;
  reason: string;
}

/**
 * Money that moved outside the orders seen: by their changes the balance is `after`; it was
 * `before`, or is it `now`. `since` (ISO time): `after` is what an earlier run carried over.
 */
export interface BalanceGap {
  currency: string;
  amount: Amount;
  after: Amount;
  before: Amount;
  now?: true;
  since?: string;
}

/** A balance that stood still and was proven, or seen first, at a time (ISO); the next run compares from there on. */
export interface CarriedBalance {
  currency: string;
  /** Less the overdraft: a debt is negative. */
  amount: Amount;
  at: string;
}

/** Proof by one currency's balance changes. `balance` compares their end with the balance. */
export interface ChainSummary {
  currency: string;
  changes: number;
  start: Amount;
  end: Amount;
  gaps: number;
  balance: 'equal' | 'differs' | 'moving' | 'not compared';
}

/** Result of the `reconcile` workflow. Lists hold at most MAX_SHOWN entries; the counts are complete. */
export interface ReconcileResult {
  account: string;
  /** The window that was asked for (ISO times); 26 h more on each side were read. */
  from: string;
  to: string;
  /** Orders read from the service, each counted once. */
  seen: number;
  /** Windows read, those of a second look included. */
  windows: number;
  classes: Record<ReconcileClass, number>;
  /** Orders of DISAGREEING_CLASSES, in that order. */
  disagreements: Finding[];
  malformed: MalformedItem[];
  malformedCount: number;
  gaps: BalanceGap[];
  gapCount: number;
  chains: ChainSummary[];
  /** For the next run, of every currency, however many. Absent in results of older versions. */
  balances?: CarriedBalance[];
  /** Missing proofs, in words. */
  notes: string[];
  /** The JSON report; absent where the workers have no REPORT_DIR. */
  report?: ReportFile;
}

/** Heartbeat of a reconciliation's activities: what they do, and how much was seen so far. */
export interface ReconcileProgress extends Pick<ReconcileResult, 'seen' | 'windows'> {
  step: string;
}

/** Returns what a person must look at; undefined if everything agrees or was repaired. */
export function disagreementOf({ classes, malformedCount, gapCount }: ReconcileResult): string | undefined {
  const counts: [number, string][] = [
    ...DISAGREEING_CLASSES.map((name): [number, string] => [classes[name], name]),
    [malformedCount, 'malformed'],
    [gapCount, 'gaps'],
  ];
  const found = counts.filter(([count]) => count > 0);
  return found.length === 0 ? undefined : found.map(([count, name]) => `${name} ${count}`).join(', ');
}
