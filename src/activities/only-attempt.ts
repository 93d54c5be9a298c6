import { activityInfo, getClient } from '@temporalio/activity';
import { isRefused } from '../contract/refused.js';

/**
 * Two times of one schedule may differ by less: the SDK's test server reads its clock twice. What follows a send comes later, since a
 * start, a probe, a connection and the send itself lie between.
 */
const ONE_SCHEDULE_MS = 10;

/**
 * Returns true for an attempt that follows another one, since an operator had the server repeat it. Attempt and heartbeat are those of a first
 * one again after `activity unpause --reset-attempts --reset-heartbeats`; the time it was scheduled for tells.
 */
export function isRepeated(): boolean {
  const { attempt, heartbeatDetails, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const laterMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  return attempt > 1 || heartbeatDetails !== undefined || laterMs > ONE_SCHEDULE_MS;
}

/**
 * Returns true where the history of this run has the activity scheduled more than once. No workflow of ours does that: its id is its own, and
 * the server refuses a second one while the first is open. So something without the keys did, with a copy of its encrypted input.
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
