import type { BatchInput, BatchProgress, StopAfter } from '../../../contract/batch/batch.js';

const UNCERTAIN_IN_A_ROW = 3;
/** Before this many rows have ended a share says nothing. */
const SHARE_COUNTS_FROM = 20;

type Limits = Pick<BatchInput, 'stopAfter' | 'latestSend'>;

/** Why a batch must stop by itself; undefined = it goes on. */
export function haltReason(
  { stopAfter = {}, latestSend }: Limits,
  progress: Pick<BatchProgress, 'outcomes'>,
  nowMs: number,
): string | undefined {
  const isOver = latestSend !== undefined && nowMs > Date.parse(latestSend);
  return tooMany(stopAfter, progress) ?? (isOver ? `the latest send time ${latestSend} is over` : undefined);
}

function tooMany({ failures, share }: StopAfter, { outcomes }: Pick<BatchProgress, 'outcomes'>): string | undefined {
  const ended = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const failed = ended - outcomes.completed;
  if (failures !== undefined && failed >= failures) {
    return `${failed} rows ended otherwise than completed; the limit is ${failures}`;
  }
  if (share === undefined || ended < SHARE_COUNTS_FROM || failed / ended < share) return undefined;
  return `${failed} of ${ended} rows ended otherwise than completed; the limit is a share of ${share}`;
}

/**
 * Why nothing more is sent although the batch need not stop. Neighbours that are uncertain at once have a common cause, such
 * as a key that was revoked, which would meet all that follow. `held`: some of them are settled without a person, and then
 * it goes on; `pause`: all of them are parked, so that only a person can tell.
 */
export function holdReason(
  { stopAfter = {} }: Limits,
  { unsettled, uncertain = [] }: Pick<BatchProgress, 'unsettled' | 'uncertain'>,
): { held?: string; pause?: string } {
  const limit = stopAfter.uncertainInARow ?? UNCERTAIN_IN_A_ROW;
  const parked = inARow(unsettled, limit);
  if (parked) return { pause: `${parked}; look at them before more is sent` };
  const some = inARow([...uncertain, ...unsettled], limit);
  return some ? { held: `${some}; nothing is sent until it is known what became of them` } : {};
}

function inARow(unclear: readonly number[], limit: number): string | undefined {
  const rows = [...new Set(unclear)].sort((a, b) => a - b);
  const last = rows.find((row, index) => index >= limit - 1 && rows[index - limit + 1] === row - limit + 1);
  return last === undefined ? undefined : `rows ${last - limit + 1} to ${last} are uncertain at the same time`;
}
