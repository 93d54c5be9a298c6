import { activityInfo, getClient } from '@temporalio/activity';
import type { Turn, TurnInput } from '../../contract/order/activities.js';
import type { Limiter } from '../../payment-service/limiter.js';
import { type ActivityDeps, accountOf } from '../deps.js';

/** Number of the type of an activity queue on the wire. */
const ACTIVITY_QUEUE = 2;

/** Requests of a create: its probe and the create itself. */
const REQUESTS_PER_TASK = 2;

/**
 * Answers for an account whose workers are busy: how many tasks go first, and how fast. A workflow
 * that gets this answer knows that somebody serves the account. Asks Temporal alone, so that the
 * answer itself needs no turn.
 */
export function whereInLineActivity(deps: ActivityDeps) {
  return async function whereInLine({ account, taskQueue, priority }: TurnInput): Promise<Turn> {
    const { limiter } = accountOf(deps, account);
    const { stats, statsByPriorityKey } = await getClient().workflowService.describeTaskQueue({
      namespace: activityInfo().workflowNamespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY_QUEUE,
      reportStats: true,
    });
    const levels = Object.entries(statsByPriorityKey ?? {}).filter(([level]) => Number(level) <= priority);
    const first = levels.length > 0 ? levels.map(([, level]) => level) : [stats];
    const before = first.reduce((sum, level) => sum + Number(level?.approximateBacklogCount ?? 0), 0);
    const perSecond = stats?.tasksDispatchRate || (rateOf(limiter) ?? 0) / REQUESTS_PER_TASK;
    return turnOf(limiter, before, perSecond > 0 ? (1_000 * before) / perSecond : 0);
  };
}

/** Returns the place of a request behind those that wait for their turn in this worker. */
export const turnInWorker = (limiter: Limiter): Turn =>
  turnOf(limiter, limiter.waiting, (limiter.waiting + 1) * limiter.intervalMs);

function turnOf(limiter: Limiter, before: number, aboutMs: number): Turn {
  const requestsPerSecond = rateOf(limiter);
  return { before, aboutMs: Math.round(aboutMs), ...(requestsPerSecond !== undefined && { requestsPerSecond }) };
}

/** Requests a second of this worker now; undefined without a limit. */
const rateOf = ({ intervalMs }: Limiter): number | undefined => (intervalMs > 0 ? 1_000 / intervalMs : undefined);
