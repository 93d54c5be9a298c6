import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import type { Account } from '../deps.js';
import type { Patience } from './gathering.js';

/** Somebody waits for a single order; nobody for one row of a batch, of which there are many. */
const PATIENCE_MS = { single: 20, row: 1_000 };
/** Creates of one wave get near their turns together. A row that did not wait gives others time. */
const PROBE_MS = { heldUp: 50, row: 600 };

/** Under a low limit rows come slowly: one waits for as many turns as make its look-up a small part of what a row costs. */
const TURNS_PER_ROW_LOOK_UP = 26;
const LONGEST_ROW_MS = 8_000;

/** How long the look-up of this activity may wait for others. */
export function patience({ limiter }: Pick<Account, 'limiter'>): Patience {
  const rowMs = Math.min(Math.max(PATIENCE_MS.row, TURNS_PER_ROW_LOOK_UP * limiter.intervalMs), LONGEST_ROW_MS);
  return { patienceMs: isRow() ? rowMs : PATIENCE_MS.single, signal: cancellationSignal() };
}

const isRow = (): boolean => (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;

/** Returns the same for the probe before a create. `heldUp`: it had to wait for its turn. */
export function probePatience({ limiter }: Pick<Account, 'limiter'>, heldUp: boolean): Patience {
  const signal = cancellationSignal();
  if (!isRow()) return { patienceMs: PATIENCE_MS.single, signal };
  if (limiter.intervalMs === 0) return { patienceMs: PATIENCE_MS.row, othersCome: true, signal };
  return { patienceMs: heldUp ? PROBE_MS.heldUp : PROBE_MS.row, othersCome: true, signal };
}
