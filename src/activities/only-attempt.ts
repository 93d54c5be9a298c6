import { activityInfo, getClient } from '@temporalio/activity';
import { isRefused } from '../contract/refused.js';

/** Maximum difference of two times of one schedule: the SDK's test server reads its clock twice. */
const ONE_SCHEDULE_MS = 10;

/**
 * Returns true for an attempt that follows another. After `activity unpause --reset-attempts
 * --reset-heartbeats`, only the scheduled time shows it.
 */
export function isRepeated(): boolean {
  const { attempt, heartbeatDetails, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const laterMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  return attempt > 1 || heartbeatDetails !== undefined || laterMs > ONE_SCHEDULE_MS;
}

/**
 * Returns true if the history schedules this activity more than once. Our workflows never do: a
 * program without the keys copied its encrypted input.
 */
export async function isCopied(): Promise<boolean> {
  const { activityId, workflowExecution: execution, workflowNamespace: namespace } = activityInfo();
  const { workflowService } = getClient();
  let scheduled = 0;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.getWorkflowExecutionHistory({ namespace, execution, nextPageToken });
    const ids = (page.history?.events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityId);
    scheduled += ids.filter((id) => id === activityId).length;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length);
  return scheduled !== 1;
}

/**
 * Returns the heartbeat of an earlier attempt; undefined if there is none or it is not authentic.
 */
export function lastHeartbeat<T>(): T | undefined {
  const { heartbeatDetails } = activityInfo();
  return isRefused(heartbeatDetails) ? undefined : heartbeatDetails;
}
