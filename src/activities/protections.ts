import type { Pace } from '../contract/order/activities.js';
import { lowestCaps, stricterPace } from '../contract/order/stricter.js';
import type { Account, ActivityDeps } from './deps.js';

/** Protective settings in force for an account. */
export interface InForce {
  pace: Pace;
  caps: ReadonlyMap<string, string>;
  notExecutedStatuses: readonly number[];
  /** Since when a restored Temporal runs, or one that failed over; undefined = neither. */
  restoredAtMs?: number;
}

/** Returns true where decisions and approvals of an account count only with a signature. */
export const isSigned = ({ approvers, others }: Pick<ActivityDeps, 'approvers' | 'others'>, name: string): boolean =>
  Boolean(approvers?.has(name) || others?.(name).some((other) => other.approvers !== undefined));

/** Returns the strictest settings of an account's workers. THE place that decides which limits hold. */
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
    // Caps that are too long to be published are a text.
    caps: lowestCaps(
      deps.caps ?? [],
      ...others.map(({ caps }) => (typeof caps === 'object' ? Object.entries(caps) : [])),
    ),
    notExecutedStatuses: notExecutedStatuses.filter((status) =>
      others.every(({ notExecuted = [] }) => notExecuted.includes(status)),
    ),
    ...(times.length > 0 && { restoredAtMs: Math.max(...times) }),
  };
}
