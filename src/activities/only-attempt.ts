import { activityInfo, getClient } from '@temporalio/activity';
import { isRefused } from '../contract/refused.js';

/** Largest difference of two times of one schedule: the SDK's test server reads its clock twice. */
const ONE_SCHEDULE_MS = 10;

/**
 * Returns true for an attempt that follows another one. After `activity unpause
 * --reset-attempts --reset-heartbeats`, only the time that it was scheduled for shows that.
 */
export function isRepeated(): boolean {
  const { attempt, heartbeatDetails, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const laterMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  return attempt > 1 || heartbeatDetails !== undefined || laterMs > ONE_SCHEDULE_MS;
}

/**
 * Returns true if the history schedules this activity more than once. No workflow of ours does:
 * something without the keys copied its encrypted input.
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

/** What an attempt before this one left with the server; undefined where none did, or where something without the payload keys wrote it. */
export function lastHeartbeat<T>(): T | undefined {
  const { heartbeatDetails } = activityInfo();
  return isRefused(heartbeatDetails) ? undefined : heartbeatDetails;
}
