import { activityInfo } from '@temporalio/activity';
import { type Pace, windowOf } from '../contract/order/activities.js';
import { lowestCaps, stricterPace } from '../contract/order/stricter.js';
import type { OrderType } from '../contract/order/types.js';
import type { OnlyByCommand } from '../contract/signature.js';
import { policyDigest } from '../temporal/published.js';
import type { Account, ActivityDeps } from './deps.js';

/** Returns true if another worker of the account has other rules, or rules that this one lacks. */
export function isOtherPolicy({ policies, others }: ActivityDeps, name: string): boolean {
  const policy = policies?.get(name);
  const own = policy && policyDigest(policy);
  return others?.(name).some((other) => other.policy !== undefined && other.policy !== own) ?? false;
}

/** Protective settings in force for an account. */
export interface InForce {
  pace: Pace;
  caps: ReadonlyMap<string, string>;
  notExecutedStatuses: readonly number[];
  /** Start of a Temporal that was restored or failed over; undefined if neither. */
  restoredAtMs?: number;
}

/** Returns true if the account's decisions and approvals need a signature. */
export const isSigned = ({ approvers, others }: Pick<ActivityDeps, 'approvers' | 'others'>, name: string): boolean =>
  Boolean(approvers?.has(name) || others?.(name).some((other) => other.approvers !== undefined));

/** Returns why the Temporal UI cannot decide for an account; undefined if it can. */
export function onlyByCommand(deps: ActivityDeps, name: string): OnlyByCommand | undefined {
  if (isSigned(deps, name)) return 'signed';
  return deps.isCopied && 'encrypted';
}

/** Returns the strictest settings of an account's workers. All limits in force come from here. */
export function protectionsIn(deps: ActivityDeps, { name, notExecutedStatuses = [] }: Account): InForce {
  const others = deps.others?.(name) ?? [];
  const restored = [deps.restoredAtMs, deps.failedOverAtMs?.(), ...others.map(({ restoredAtMs }) => restoredAtMs)];
  const times = restored.filter((ms) => ms !== undefined);
  return {
    pace: others
      .map(({ windows: [atOnce, deposit, confirmDelayMs] }) => {
        return { ...deps.pace, settleWindowMs: { atOnce, deposit }, confirmDelayMs };
      })
      .reduce(stricterPace, deps.pace),
    caps: lowestCaps(deps.caps ?? [], ...others.map(({ caps = {} }) => Object.entries(caps))),
    notExecutedStatuses: notExecutedStatuses.filter((status) =>
      others.every(({ notExecuted = [] }) => notExecuted.includes(status)),
    ),
    ...(times.length > 0 && { restoredAtMs: Math.max(...times) }),
  };
}

/** Start of a Temporal that was restored or failed over, and why nothing is sent yet. */
export interface Restored {
  restoredAtMs: number;
  reason: string;
}

/**
 * Returns why absence proves nothing after a restore or failover (undefined if it does): Temporal
 * may have forgotten a create. Call it before any reading.
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
  // Uses the worker's and the server's clock, because one of them may be fast.
  if (Math.min(await nowMs(), activityInfo().currentAttemptScheduledTimestampMs) >= countsFromMs) return undefined;
  const until = new Date(countsFromMs).toISOString();
  const reason = `Temporal was restored or failed over, and an earlier create may not be shown yet: nothing is sent before ${until}`;
  return { restoredAtMs, reason };
}
