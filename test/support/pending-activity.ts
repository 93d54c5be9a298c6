import type { Client } from '@temporalio/client';
import { vi } from 'vitest';

/** Waits for an activity of a workflow that is scheduled and not ended, of any type where none is named; answers its id. */
export async function pendingActivity(client: Client, workflowId: string, type?: string): Promise<string> {
  const pending = async () => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ activityType }) => type === undefined || activityType?.name === type);
  };
  const { activityId } = (await vi.waitUntil(pending, { timeout: 30_000, interval: 20 })) ?? {};
  return activityId ?? '';
}
