import { activityInfo } from '@temporalio/activity';
import { type CreateVerdict, windowOf } from '../../contract/order/activities.js';
import type { OrderType } from '../../contract/order/types.js';
import type { ActivityDeps } from '../deps.js';

/** Since when a restored Temporal runs, and why nothing is sent yet. */
export interface Restored {
  restoredAtMs: number;
  reason: string;
}

/**
 * Why absence proves nothing yet: what was sent before Temporal was restored may be unknown to its runs and not be shown by the
 * service. It is asked before anything is read, so that a reading that counts was made later. Undefined = absence counts.
 */
export async function tooSoonAfterRestore(
  { restoredAtMs, pace, nowMs = Date.now }: ActivityDeps,
  type: OrderType,
): Promise<Restored | undefined> {
  if (restoredAtMs === undefined) return undefined;
  const countsFromMs = restoredAtMs + windowOf(pace, type);
  // By the worker's clock and by the server's: one of them may be fast.
  if (Math.min(await nowMs(), activityInfo().currentAttemptScheduledTimestampMs) >= countsFromMs) return undefined;
  const until = new Date(countsFromMs).toISOString();
  const reason = `Temporal was restored, and an earlier create may not be shown yet: nothing is sent before ${until}`;
  return { restoredAtMs, reason };
}

/** A verdict as it is told while absence proves nothing yet: what sent nothing says so first. */
export function toldAfterRestore(verdict: CreateVerdict, restored: Restored | undefined): CreateVerdict {
  if (!restored || verdict.kind !== 'notSent' || verdict.reason === restored.reason) return verdict;
  return { kind: 'notSent', reason: `${restored.reason}; ${verdict.reason}` };
}
