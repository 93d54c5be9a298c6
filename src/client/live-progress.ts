import type { Client } from '@temporalio/client';
import type { BatchProgress } from '../contract/batch/batch.js';
import { decodeFirst } from './first-input.js';

/** The activity that sends a batch's rows and leaves its progress with the server about every second. */
const SENDING_ACTIVITY = 'sendBatchRows';

/**
 * The progress of a batch as its running activity last reported it: the workflow itself hears of it only when a chunk
 * ends, which may take half a minute. Undefined while nothing is being sent.
 */
export async function readLiveProgress(client: Client, workflowId: string): Promise<BatchProgress | undefined> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const sending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === SENDING_ACTIVITY);
  return decodeFirst<BatchProgress>(client, sending?.heartbeatDetails);
}
