import type { Client } from '@temporalio/client';
import { callTemporal } from '../../../client/temporal-calls.js';

/** The name that histories know the create by. */
const CREATE = 'createOrder';

/**
 * True unless the last create of an order was lost with its worker. A dead worker leaves all creates it held uncertain,
 * which are neighbours, and says nothing about the service: the batch need not stop for it.
 */
export async function isServiceUnclear(client: Client, workflowId: string): Promise<boolean> {
  const { events } = await callTemporal(client, () => client.workflow.getHandle(workflowId).fetchHistory());
  const creates = new Set<string>();
  let lost = false;
  for (const event of events ?? []) {
    const { activityTaskScheduledEventAttributes: scheduled, activityTaskTimedOutEventAttributes: timedOut } = event;
    if (scheduled?.activityType?.name === CREATE) {
      creates.add(String(event.eventId));
      lost = false;
    }
    if (timedOut && creates.has(String(timedOut.scheduledEventId))) lost = true;
  }
  return !lost;
}
