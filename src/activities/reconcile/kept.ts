import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  AGREED_CLASSES,
  type CarriedBalance,
  DISAGREEING_CLASSES,
  type Finding,
  type MalformedItem,
  type ReconcileClass,
} from '../../contract/reconcile/reconcile.js';
import type { Balances } from '../../contract/service-objects.js';
import type { FoldedChanges } from './balance-fold.js';

/** Of what an earlier version of the code kept nothing is taken over. */
const VERSION = 1;
/** Rows and malformed items that are kept and reported, the gravest rows first; their counts are complete. */
export const MAX_ROWS = 3_000;
const MAX_MALFORMED = 500;
/** A payload may have 2 MB. */
const MAX_CHARACTERS = 1_200_000;
/** Classes of orders that need no line in the report. */
const SILENT: readonly ReconcileClass[] = ['equal', 'open', 'noOrder'];

/**
 * Where a reconciliation stands, and what it has found so far. `earlier`: orders from before the window; `windows`: the
 * service's list, in windows; `runs`: our workflows whose order no window showed.
 */
export type Phase = 'earlier' | 'windows' | 'runs' | 'end';

/** What outlives a worker: plain JSON, however many orders there are. */
export interface Kept {
  version: number;
  phase: Phase;
  /** Begin of the scan on a worker's clock, and whether it is the second one, which reads balance changes only. */
  atMs: number;
  second?: true;
  /** From when on windows, or our runs, are read next. */
  nextMs: number;
  /** Balances before the scan; absent where the service gave no answer. */
  before?: Balances;
  carried: CarriedBalance[];
  currencies: Record<string, FoldedChanges>;
  /** Of a second scan: the latest change of each currency that the first one saw. */
  until?: Record<string, string>;
  /** Orders of the last second of the window before, which the next one shows once more. */
  edge: { at: string; uuids: string[] };
  /** Orders looked up by their ids before the windows, which may show them, too. */
  handled: string[];
  /** Order ids that look-ups found orders with balance changes by. */
  byId: string[];
  seen: number;
  windows: number;
  classes: Record<ReconcileClass, number>;
  rows: Finding[];
  rowCount: number;
  malformed: MalformedItem[];
  malformedCount: number;
  notes: string[];
  addressesRead?: true;
}

/** A reconciliation that begins. */
export const nothingYet = (begin: Pick<Kept, 'atMs' | 'carried' | 'nextMs' | 'before'>): Kept => ({
  version: VERSION,
  phase: 'earlier',
  currencies: {},
  edge: { at: '', uuids: [] },
  handled: [],
  byId: [],
  seen: 0,
  windows: 0,
  classes: noneYet(),
  rows: [],
  rowCount: 0,
  malformed: [],
  malformedCount: 0,
  notes: [],
  ...begin,
});

const noneYet = (): Record<ReconcileClass, number> => {
  const none = [...AGREED_CLASSES, ...DISAGREEING_CLASSES].map((name) => [name, 0]);
  return Object.fromEntries(none) as Record<ReconcileClass, number>;
};

/** Counts what was found, and keeps the gravest rows. */
export function addRows(kept: Kept, found: readonly Finding[]): void {
  for (const { class: name } of found) kept.classes[name] += 1;
  const rows = found.filter((row) => !SILENT.includes(row.class));
  if (rows.length === 0) return;
  kept.rowCount += rows.length;
  kept.rows = [...kept.rows, ...rows].sort(byGravity).slice(0, MAX_ROWS);
}

/** Counts what cannot be read, and keeps the first of it. */
export function addMalformed(kept: Kept, found: readonly MalformedItem[]): void {
  kept.malformedCount += found.length;
  kept.malformed.push(...found.slice(0, Math.max(0, MAX_MALFORMED - kept.malformed.length)));
}

export function addNote(kept: Kept, note: string): void {
  if (!kept.notes.includes(note) && kept.notes.length < MAX_MALFORMED) kept.notes.push(note);
}

/** True for rows that a person has to look at. */
export const isDisagreement = ({ class: name }: Finding): boolean =>
  (DISAGREEING_CLASSES as readonly ReconcileClass[]).includes(name);

/** Rank of a row's class, 0 = the gravest; what was mended comes last. */
function gravityOf({ class: name }: Finding): number {
  const rank = (DISAGREEING_CLASSES as readonly ReconcileClass[]).indexOf(name);
  return rank < 0 ? DISAGREEING_CLASSES.length : rank;
}

/** A thousand orders of somebody else must not hide the one that was paid twice. */
const byGravity = (a: Finding, b: Finding): number => gravityOf(a) - gravityOf(b);

/** As text for a heartbeat; undefined where it is too large for one: then an attempt goes on from what was kept before. */
export function packed(kept: Kept): string | undefined {
  const text = deflateRawSync(JSON.stringify(kept), { level: 1 }).toString('base64');
  return text.length > MAX_CHARACTERS ? undefined : text;
}

/** What an attempt before left; undefined for anything else, with which a reconciliation begins anew. */
export function unpacked(text: unknown): Kept | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const kept = JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString());
    return kept.version === VERSION ? kept : undefined;
  } catch {
    return undefined;
  }
}
