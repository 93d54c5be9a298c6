import type { BatchProgress } from '../../../contract/batch/batch.js';
import { CREATE_TIMEOUT_MS, SEND_TIMEOUT_MS } from '../../../contract/order/activities.js';

/** Number of neighbouring uncertain rows that are a sign of one cause. */
const UNCERTAIN_IN_A_ROW = 3;
/** Last rows, which are kept as later orders until the service has answered all others. */
export const KEPT_ROWS = 3;
/** Rows without a clear answer before a person is asked: in about an hour by default. */
const MOST_UNCLEAR = 6;
/** Window after the last of them, in windows: 1/8, 1/4, … up to 2. */
const pauseWindows = (unclear: number): number => Math.min(2, 2 ** (unclear - 4));
/** Part of the window after which an order is a later one, and time until others know it. */
const [LATER_WINDOWS, SHOWN_WINDOWS] = [0.25, 1];

type Rows = Pick<BatchProgress, 'open' | 'unsettled' | 'uncertain'>;

/** Facts besides the rows. `isUnanswered`: a create of an open row has no answer yet. */
interface Situation {
  left: number;
  maxInFlight: number;
  isUnanswered?: boolean;
}

/**
 * Returns why rows go one at a time; undefined if they need not. The first send of an unsent row is
 * always safe, and it is the later order that rows in doubt wait for.
 */
export function whyOneAtATime(
  { open, unsettled, uncertain = [] }: Rows,
  { left, maxInFlight, isUnanswered }: Situation,
): { why: string; isLast?: true } | undefined {
  if (left <= 0) return undefined;
  const some = neighbours([...uncertain, ...unsettled]);
  if (some) return { why: `${some} are uncertain at the same time` };
  const isFull = uncertain.length > 0 && open.length >= maxInFlight;
  if (isFull) return { why: `${uncertain.length} of ${open.length} open rows are uncertain, and no more may be open` };
  if (left > KEPT_ROWS) return undefined;
  if (uncertain.length > 0) return { why: `row ${uncertain[0]} is uncertain, and few rows are left`, isLast: true };
  return isUnanswered ? { why: 'few rows are left, and a create before them has no answer', isLast: true } : undefined;
}

function neighbours(unclear: readonly number[]): string | undefined {
  const rows = [...new Set(unclear)].sort((a, b) => a - b);
  const more = UNCERTAIN_IN_A_ROW - 1;
  const last = rows.find((row, index) => rows[index - more] === row - more);
  return last === undefined ? undefined : `rows ${last - more} to ${last}`;
}

/** State of the row that went first. 'clear': answered; 'unsent': it waits before its create. */
export type FirstRow = 'moving' | 'clear' | 'unclear' | 'unsent';

/** Returns that state as far as the progress shows it; 'moving' for an open row. */
export function firstRowOf({
  first,
  open,
  uncertain = [],
  unsettled,
}: Rows & Pick<BatchProgress, 'first'>): FirstRow | undefined {
  const row = first?.row;
  if (row === undefined) return undefined;
  if (uncertain.includes(row) || unsettled.includes(row)) return 'unclear';
  return open.some((one) => one.row === row) ? 'moving' : 'clear';
}

/** Input of `recordFirst` besides the progress. `windowMs`: the settle window of payouts. */
interface FirstSituation extends Situation {
  nowMs: number;
  windowMs: number;
  /** Absent if no row is going first. */
  row?: FirstRow | undefined;
  /** Rows became uncertain since the last call. */
  isNewlyUncertain?: boolean;
}

/** Records how the row that went first stands, and when the next one may go. Changes `progress`. */
export function recordFirst(progress: BatchProgress, situation: FirstSituation): void {
  const { nowMs, windowMs, row, isNewlyUncertain, isUnanswered } = situation;
  // The service answers again, so parked rows slow nothing down.
  if (row === 'clear') progress.unsettled = [];
  const found = whyOneAtATime(progress, situation);
  if (!found) {
    delete progress.first;
    return;
  }
  const before: Omit<NonNullable<BatchProgress['first']>, 'why'> = progress.first ?? { unclear: 0, nextAtMs: 0 };
  const { why, isLast } = found;
  const unclear = row === 'clear' ? 0 : before.unclear + (row === 'unclear' ? 1 : 0);
  const waits = [before.nextAtMs];
  if (row === 'unclear') waits.push(nowMs + pauseWindows(unclear) * windowMs);
  // Sooner, it would be no later order of the newest doubt.
  const isNew = isNewlyUncertain || (!progress.first && progress.uncertain?.length);
  if (isLast && isNew) waits.push(nowMs + SEND_TIMEOUT_MS + LATER_WINDOWS * windowMs);
  // A dead worker's is in doubt after its limit. One that never tells holds them for a window.
  if (isLast && isUnanswered && why !== progress.first?.why) waits.push(nowMs + Math.max(windowMs, CREATE_TIMEOUT_MS));
  if (isLast && row === 'clear') waits.push(nowMs + SHOWN_WINDOWS * windowMs);
  progress.first = {
    ...{ why, unclear, nextAtMs: Math.max(...waits) },
    ...(row === 'moving' && { row: before.row, orderId: before.orderId }),
  };
}

/** Returns why going first does not help, so that a person is asked; undefined if it may. */
export function whyNoneGoesFirst({ first }: Pick<BatchProgress, 'first'>): string | undefined {
  if (!first || first.unclear < MOST_UNCLEAR) return undefined;
  return `${first.why}, and ${first.unclear} rows that were sent one at a time since got no clear answer either; check them before more is sent`;
}

/** Returns true if a row may go first now. Uncertain rows, which wait for it, take no place. */
export function mayGoFirst(
  { first, open, uncertain = [] }: Pick<BatchProgress, 'first'> & Rows,
  maxInFlight: number,
  nowMs: number,
): boolean {
  const hasRoom = open.filter(({ row }) => !uncertain.includes(row)).length < maxInFlight;
  return hasRoom && first !== undefined && first.row === undefined && nowMs >= first.nextAtMs;
}
