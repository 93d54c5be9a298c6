import type { BatchInput, BatchProgress } from '../../../contract/batch/batch.js';

/** Number of neighbouring uncertain rows that halts a batch. */
const UNCERTAIN_IN_A_ROW = 3;

/** Returns why a batch must stop by itself; undefined if it continues. */
export function haltReason(
  { stopAfter, latestSend }: Pick<BatchInput, 'stopAfter' | 'latestSend'>,
  { outcomes }: Pick<BatchProgress, 'outcomes'>,
  nowMs: number,
): string | undefined {
  const { completed, ...others } = outcomes;
  const failed = Object.values(others).reduce((sum, count) => sum + count, 0);
  const limit = stopAfter?.failures;
  if (limit !== undefined && failed >= limit) {
    return `${failed} rows ended otherwise than completed; the limit is ${limit}`;
  }
  const isOver = latestSend !== undefined && nowMs > Date.parse(latestSend);
  return isOver ? `the latest send time ${latestSend} is over` : undefined;
}

/**
 * Returns why uncertain neighbours, a sign of one cause, hold the batch. `pause`: all are parked.
 */
export function holdReason({ unsettled, uncertain = [] }: Pick<BatchProgress, 'unsettled' | 'uncertain'>): {
  held?: string;
  pause?: string;
} {
  const parked = neighbours(unsettled);
  if (parked) return { pause: `${parked}; check them before more is sent` };
  const some = neighbours([...uncertain, ...unsettled]);
  return some ? { held: `${some}; nothing is sent until their outcome is known` } : {};
}

function neighbours(unclear: readonly number[]): string | undefined {
  const rows = [...new Set(unclear)].sort((a, b) => a - b);
  const more = UNCERTAIN_IN_A_ROW - 1;
  const last = rows.find((row, index) => rows[index - more] === row - more);
  return last === undefined ? undefined : `rows ${last - more} to ${last} are uncertain at the same time`;
}
