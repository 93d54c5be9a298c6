import type { BatchProgress } from '../../../contract/batch/batch.js';
import type { BatchInput, StopAfter } from '../../../contract/batch/input.js';

const UNCERTAIN_IN_A_ROW = 3;
/** Before this many rows have ended a share says nothing. */
const SHARE_COUNTS_FROM = 20;

/** Why a batch must stop by itself; undefined = it goes on. `uncertain`: rows that are uncertain right now. */
export function haltReason(
  { stopAfter = {}, latestSend }: Pick<BatchInput, 'stopAfter' | 'latestSend'>,
  progress: Pick<BatchProgress, 'outcomes' | 'unsettled'>,
  uncertain: readonly number[],
  nowMs: number,
): string | undefined {
  return (
    tooMany(stopAfter, progress) ??
    inARow([...uncertain, ...progress.unsettled], stopAfter.uncertainInARow ?? UNCERTAIN_IN_A_ROW) ??
    (latestSend !== undefined && nowMs > Date.parse(latestSend)
      ? `the latest send time ${latestSend} is over`
      : undefined)
  );
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

/** Neighbours that are unclear at once have a common cause, such as a key that was revoked, which would meet all that follow. */
function inARow(unclear: readonly number[], limit: number): string | undefined {
  const rows = [...new Set(unclear)].sort((a, b) => a - b);
  const last = rows.find((row, index) => index >= limit - 1 && rows[index - limit + 1] === row - limit + 1);
  if (last === undefined) return undefined;
  return `rows ${last - limit + 1} to ${last} are uncertain at the same time; look at them before more is sent`;
}
