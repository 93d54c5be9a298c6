import { activityInfo } from '@temporalio/activity';
import { type CreateVerdict, windowOf } from '../../contract/order/activities.js';
import type { OrderType } from '../../contract/order/types.js';
import type { Account, ActivityDeps } from '../deps.js';
import { protectionsIn } from '../protections.js';

/** Since when a Temporal runs that was restored or failed over, and why nothing is sent yet. */
export interface Restored {
  restoredAtMs: number;
  reason: string;
}

/**
 * Returns why absence proves nothing yet: Temporal was restored or failed over, and may have forgotten a
 * create that the service does not show yet. Call it before any reading. Undefined = absence counts.
 */
export async function tooSoonAfterRestore(
  deps: ActivityDeps,
  account: Account,
  type: OrderType,
): Promise<Restored | undefined> {
  const { restoredAtMs, pace } = protectionsIn(deps, account);
  if (restoredAtMs === undefined) return undefined;
  const { nowMs = Date.now } = deps;
  const countsFromMs = restoredAtMs + windowOf(pace, type);
  // By the worker's clock and by the server's: one of them may be fast.
  if (Math.min(await nowMs(), activityInfo().currentAttemptScheduledTimestampMs) >= countsFromMs) return undefined;
  const until = new Date(countsFromMs).toISOString();
  const reason = `Temporal was restored or failed over, and an earlier create may not be shown yet: nothing is sent before ${until}`;
  return { restoredAtMs, reason };
}

/** A verdict as it is told while absence proves nothing yet: what sent nothing says so first. */
export function toldAfterRestore(verdict: CreateVerdict, restored: Restored | undefined): CreateVerdict {
  if (!restored || verdict.kind !== 'notSent' || verdict.reason === restored.reason) return verdict;
  return { kind: 'notSent', reason: `${restored.reason}; ${verdict.reason}` };
}
