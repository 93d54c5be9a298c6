import type { BatchRow } from '../../../batch-files/index.js';
import type { BatchProgress, OpenRow } from '../../../contract/batch/batch.js';
import { decimalOrZero, toAmount } from '../../../contract/money.js';
import type { OrderResult } from '../../../contract/order/result.js';
import type { OrderEnd } from './order-ends.js';
import type { StartedRow } from './start-row.js';

/** Rows that were parked while it was unknown whether their order exists: as many as a batch has to remember. */
const UNSETTLED_KEPT = 50;

/** Moves on behind rows that were taken, whatever became of them. */
export function countTaken(progress: BatchProgress, rows: readonly BatchRow[]): void {
  progress.taken += rows.length;
  progress.offset = rows.at(-1)?.nextOffset ?? progress.offset;
}

/** Counts a row after its start; a parked one is followed first, so that it is looked at like all others. */
export function countStarted(progress: BatchProgress, { row, orderId, elsewhere, standing }: StartedRow): void {
  if (orderId === undefined) {
    if (standing.kind === 'none') progress.outcomes[standing.outcome] += 1;
    return;
  }
  const open: OpenRow = { row, orderId, ...(elsewhere && { elsewhere }) };
  progress.started += 1;
  progress.open.push(open);
  if (standing.kind === 'final' || standing.kind === 'none' || standing.kind === 'lost') {
    countEnd(progress, open, standing);
  }
}

/** Counts a row whose order ended. */
export function countEnd(progress: BatchProgress, open: OpenRow, end: OrderEnd): void {
  switch (end.kind) {
    case 'final':
      close(progress, open, end.result.outcome);
      countMoved(progress, end.result);
      break;
    case 'none':
      close(progress, open, end.outcome);
      break;
    case 'lost':
      countParked(progress, open, true);
      progress.attention = `row ${open.row} (${open.orderId}): ${end.reason}; the order may exist, look it up at the service`;
  }
}

/** Counts a row that waits for a person; `unsettled`: nobody knows whether its order exists. */
export function countParked(progress: BatchProgress, open: OpenRow, unsettled: boolean): void {
  close(progress, open, 'parked');
  if (unsettled) progress.unsettled = [...progress.unsettled, open.row].slice(-UNSETTLED_KEPT);
}

function close(progress: BatchProgress, { row }: OpenRow, outcome: keyof BatchProgress['outcomes']): void {
  progress.open = progress.open.filter((open) => open.row !== row);
  progress.outcomes[outcome] += 1;
}

function countMoved(progress: BatchProgress, { order }: OrderResult): void {
  const { currency_to: currency, amount_to: amount } = order;
  if (amount === null) return;
  progress.moved[currency] = toAmount(decimalOrZero(progress.moved[currency]).plus(decimalOrZero(amount)));
}
