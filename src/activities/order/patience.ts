import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import type { Account } from '../deps.js';
import type { Patience } from './gathering.js';

/** Somebody waits for a single order; nobody for one row of a batch, of which there are many. */
const PATIENCE_MS = { single: 20, row: 1_000 };
/** Creates that a limit holds up come near their turns together: they need not wait for each other any longer. */
const HELD_UP_MS = 50;

/** Under a low limit rows come slowly: one waits for as many turns as make its look-up a small part of what a row costs. */
const TURNS_PER_ROW_LOOK_UP = 16;
const LONGEST_ROW_MS = 5_000;

/** How long the look-up of this activity may wait for others. */
export function patience({ limiter }: Pick<Account, 'limiter'>): Patience {
  const rowMs = Math.min(Math.max(PATIENCE_MS.row, TURNS_PER_ROW_LOOK_UP * limiter.intervalMs), LONGEST_ROW_MS);
  return { patienceMs: isRow() ? rowMs : PATIENCE_MS.single, signal: cancellationSignal() };
}

const isRow = (): boolean => (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;

/** The same for the probe before a create. */
export function probePatience(account: Pick<Account, 'limiter'>): Patience {
  const { patienceMs, signal } = patience(account);
  return { patienceMs: account.limiter.intervalMs > 0 ? Math.min(patienceMs, HELD_UP_MS) : patienceMs, signal };
}
