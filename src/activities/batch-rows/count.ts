import type { BatchRow } from '../../batch-files/index.js';
import type { BatchProgress, OpenRow } from '../../contract/batches.js';
import { decimalOrZero, toAmount } from '../../contract/money.js';
import type { OrderResult } from '../../contract/orders.js';
import type { StartedRow } from './start-row.js';

/** Rows that were parked while it was unknown whether their order exists: as many as a batch has to remember. */
const UNSETTLED_KEPT = 50;

/** Moves on behind rows that were taken, whatever became of them. */
export function countTaken(progress: BatchProgress, rows: readonly BatchRow[]): void {
  progress.taken += rows.length;
  progress.offset = rows.at(-1)?.nextOffset ?? progress.offset;
}

/** Takes a row out of the open ones, with its outcome. */
function end(progress: BatchProgress, { row }: OpenRow, outcome: keyof BatchProgress['outcomes']): void {
  progress.open = progress.open.filter((open) => open.row !== row);
  progress.outcomes[outcome] += 1;
}

/** Counts a row that was just started, or could not be. */
export function countStarted(progress: BatchProgress, started: StartedRow): void {
  if (started.kind !== 'open') {
    progress.outcomes[started.kind] += 1;
    return;
  }
  progress.started += 1;
  progress.open.push(started.open);
}

/** Counts a row whose order is final, and what it paid out. */
export function countFinal(progress: BatchProgress, open: OpenRow, { outcome, order }: OrderResult): void {
  end(progress, open, outcome);
  const { currency_to: currency, amount_to: amount } = order;
  if (amount === null) return;
  progress.moved[currency] = toAmount(decimalOrZero(progress.moved[currency]).plus(decimalOrZero(amount)));
}

/** Counts a row for which no order of ours exists. */
export const countNone = (progress: BatchProgress, open: OpenRow, outcome: 'refused' | 'conflict'): void =>
  end(progress, open, outcome);

/** Counts a row that waits for a person; `unsettled`: nobody knows whether its order exists. */
export function countParked(progress: BatchProgress, open: OpenRow, unsettled: boolean): void {
  end(progress, open, 'parked');
  if (unsettled) progress.unsettled = [...progress.unsettled, open.row].slice(-UNSETTLED_KEPT);
}

/** Counts a row whose workflow ended without a verdict: like a parked one, but its workflow cannot ask any more. */
export function countLost(progress: BatchProgress, open: OpenRow, reason: string): void {
  countParked(progress, open, true);
  progress.attention = `row ${open.row} (${open.orderId}): ${reason}; the order may exist, look it up at the service`;
}
