import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import type { Patience } from './gathering.js';

/** Somebody waits for a single order; nobody for one row of a batch, of which there are many. */
const PATIENCE_MS = { single: 20, row: 1_000 };

/** How long the look-up of this activity may wait for others. */
export const patience = (): Patience => {
  const isRow = (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;
  return { patienceMs: isRow ? PATIENCE_MS.row : PATIENCE_MS.single, signal: cancellationSignal() };
};
