import { ActivityFailure, CancelledFailure, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { Turn } from '../../contract/order/activities.js';
import { quickCheck } from '../activity-calls.js';

/** Priority of a task that names none. */
const NORMAL_PRIORITY = 3;

/**
 * Returns the place in line of a task that no worker has taken; undefined if no worker of the
 * account answers soon.
 */
export async function askForTurn(account: string, taskQueue = ''): Promise<Turn | undefined> {
  const options = { ...quickCheck(account), summary: 'Does it only wait for its turn?' };
  const { whereInLine } = proxyActivities<Activities>(options);
  const priority = workflowInfo().priority?.priorityKey ?? NORMAL_PRIORITY;
  try {
    return shapedTurn(await whereInLine({ account, taskQueue, priority }));
  } catch (error) {
    // The failure of this activity must not look like that of the task, which was started by
    // nobody.
    if (isCancellation(error)) throw new CancelledFailure('cancelled while no worker had taken it');
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isFinite(value) && Number(value) >= 0;

/** Returns what an answer says of a turn; whoever answers tasks may answer anything. */
export function shapedTurn(answer: unknown): Turn | undefined {
  const { before, aboutMs, requestsPerSecond } = Object(answer) as Partial<Turn>;
  if (!isCount(before) || !isCount(aboutMs)) return undefined;
  return { before, aboutMs, ...(isCount(requestsPerSecond) && { requestsPerSecond }) };
}

/** Returns the words for a task that a worker takes as soon as its turn comes. */
export function turnText(account: string, { before, aboutMs, requestsPerSecond }: Turn): string {
  const pace =
    requestsPerSecond === undefined ? '' : ` makes ${Number(requestsPerSecond.toPrecision(2))} requests/s and`;
  const minutes = Math.ceil(aboutMs / 60_000);
  const until = minutes > 0 ? `, for about ${minutes} min` : '';
  const place = before > 0 ? `about ${Math.round(before)} other tasks first${until}` : 'it next';
  return `its turn: a worker of the account ${account}${pace} takes ${place}`;
}
