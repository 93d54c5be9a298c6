import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import type { Account } from '../deps.js';
import type { Patience } from './gathering.js';

/** Waits of look-ups for others: short for a single order, long for a row of a batch. */
const PATIENCE_MS = { single: 20, row: 1_000 };
/** Creates of a wave reach their turns together, so a row can wait for them. */
const PROBE_MS = { heldUp: 50, row: 600 };

/**
 * Under a low limit, rows are rare: this many turns make a look-up a small part of a row's cost.
 */
const TURNS_PER_ROW_LOOK_UP = 26;
const LONGEST_ROW_MS = 8_000;

/** Returns how long this activity's look-up may wait for others. */
export function patience({ limiter }: Pick<Account, 'limiter'>): Patience {
  const rowMs = Math.min(Math.max(PATIENCE_MS.row, TURNS_PER_ROW_LOOK_UP * limiter.intervalMs), LONGEST_ROW_MS);
  return { patienceMs: isRow() ? rowMs : PATIENCE_MS.single, signal: cancellationSignal() };
}

const isRow = (): boolean => (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;

/** Returns the same for the probe before a create. `heldUp`: the create waited for its turn. */
export function probePatience({ limiter }: Pick<Account, 'limiter'>, heldUp: boolean): Patience {
  const signal = cancellationSignal();
  if (!isRow()) return { patienceMs: PATIENCE_MS.single, signal };
  if (limiter.intervalMs === 0) return { patienceMs: PATIENCE_MS.row, othersCome: true, signal };
  return { patienceMs: heldUp ? PROBE_MS.heldUp : PROBE_MS.row, othersCome: true, signal };
}
