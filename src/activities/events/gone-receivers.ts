import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { describeRun } from '../../client/standing.js';
import { callTemporal, startUnlessTaken } from '../../client/temporal-calls.js';
import type { OutgoingEvent } from '../../contract/events.js';
import {
  DELIVER_EVENTS_WORKFLOW,
  goneReceiverWorkflowId,
  ORDERS_TASK_QUEUE,
  SEND_EVENTS_SIGNAL,
  searchAttribute,
} from '../../contract/names.js';
import type { deliverEvents } from '../../workflows/deliver-events.js';

/** A receiver that wanted events is not looked up again for this long. */
const KNOWN_FOR_MS = 5_000;

/** Receivers that want no more events. Temporal keeps each as an open delivery, which asks a person. */
export class GoneReceivers {
  /** When each was last seen to want events, by performance.now. */
  readonly #wantedAtMs = new Map<string, number>();

  /** Returns true until a person sends. The receiver's own delivery finds that out. */
  async isGone(receiver: string): Promise<boolean> {
    const workflowId = goneReceiverWorkflowId(receiver);
    const wantedAtMs = this.#wantedAtMs.get(receiver);
    if (wantedAtMs !== undefined && performance.now() - wantedAtMs < KNOWN_FOR_MS) return false;
    if (activityInfo().workflowExecution?.workflowId === workflowId) return false;
    const run = await describeRun(getClient(), workflowId);
    if (run?.status.name === 'RUNNING') return true;
    this.#wantedAtMs.set(receiver, performance.now());
    return false;
  }

  /** Records that a receiver answered 410 to this event. */
  async end(receiver: string, event: OutgoingEvent): Promise<void> {
    this.#wantedAtMs.delete(receiver);
    await startUnlessTaken<typeof deliverEvents>(getClient(), DELIVER_EVENTS_WORKFLOW, {
      workflowId: goneReceiverWorkflowId(receiver),
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ receivers: [{ name: receiver }], events: [event] }],
      typedSearchAttributes: [{ key: searchAttribute.account, value: event.data.account }],
    });
  }

  /** Records that a receiver took what a person sent: its own delivery sends, too, and ends. */
  async resume(receiver: string): Promise<void> {
    const workflowId = goneReceiverWorkflowId(receiver);
    if (activityInfo().workflowExecution?.workflowId === workflowId) return;
    const client = getClient();
    await callTemporal(client, () => client.workflow.getHandle(workflowId).signal(SEND_EVENTS_SIGNAL)).catch(
      (error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      },
    );
  }
}
