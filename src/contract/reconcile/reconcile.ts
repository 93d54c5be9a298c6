import type { ReconcileResult } from '../../shapes/reconcile-schemas.js';

export type {
  BalanceGap,
  CarriedBalance,
  ChainSummary,
  Finding,
  MalformedItem,
  ReconcileInput,
  ReconcileResult,
} from '../../shapes/reconcile-schemas.js';

/** Entries of each list of a result. The report on disk holds more of the rows, and the same of everything else. */
export const MAX_SHOWN = 100;

/** Age from which an order that is not final is reported, unless the input says otherwise. */
export const DEFAULT_OPEN_TOO_LONG_MS = 24 * 3_600_000;

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

/** How service and workflow agree on an order. */
export type ReconcileClass = (typeof AGREED_CLASSES)[number] | (typeof DISAGREEING_CLASSES)[number];

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
