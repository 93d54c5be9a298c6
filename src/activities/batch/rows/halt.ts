import type { BatchInput, BatchProgress } from '../../../contract/batch/batch.js';

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

/** Returns why a batch that asks sends nothing: a person first decides on its short rows. */
export const askedForFunds = ({ whenShort }: BatchInput, { short = [] }: BatchProgress): string | undefined =>
  whenShort === 'ask' && short.length > 0
    ? `the balance does not cover row ${short[0]}; decide on its order before more is sent`
    : undefined;
