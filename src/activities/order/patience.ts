import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import type { Account } from '../deps.js';
import type { Patience } from './gathering.js';

/** Somebody waits for a single order; nobody for one row of a batch, of which there are many. */
const PATIENCE_MS = { single: 20, row: 1_000 };
/** Creates that a limit holds up come near their turns together: they need not wait for each other any longer. */
const HELD_UP_MS = 50;

/** How long the look-up of this activity may wait for others. */
export const patience = (): Patience => {
  const isRow = (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;
  return { patienceMs: isRow ? PATIENCE_MS.row : PATIENCE_MS.single, signal: cancellationSignal() };
};

/** The same for the probe before a create. */
export function probePatience({ limiter }: Pick<Account, 'limiter'>): Patience {
  const { patienceMs, signal } = patience();
  return { patienceMs: limiter.intervalMs > 0 ? Math.min(patienceMs, HELD_UP_MS) : patienceMs, signal };
}
