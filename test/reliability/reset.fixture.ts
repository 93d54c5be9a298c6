import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { Lab } from '../support/lab.js';

/** A run of the workflow of an order or a batch. */
export interface Run {
  workflowId: string;
  runId: string;
}

const workflowOf = (lab: Lab, { workflowId, runId }: Run) =>
  lab.temporal.client.workflow.getHandle<() => Promise<OrderResult>>(workflowId, runId);

/** The current run of an order or a batch. */
export async function runOf(lab: Lab, { workflowId }: Pick<Run, 'workflowId'>): Promise<Run> {
  const { runId } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
  return { workflowId, runId };
}

/** Ids of the ends of a run's workflow tasks, oldest first: every event that the server resets to. */
export async function resettableEvents(lab: Lab, run: Run): Promise<string[]> {
  const { events } = await workflowOf(lab, run).fetchHistory();
  return (events ?? []).flatMap((event) => (event.workflowTaskCompletedEventAttributes ? [String(event.eventId)] : []));
}

/** What Temporal need not do again in the run that a reset makes. */
export const WITHOUT_UPDATES = [2];

/**
 * Resets a run to one of its resettable events, which ends it if it is open; answers the run cut from it. Updates behind
 * the event come again, unless they are excluded.
 */
export async function resetTo(
  lab: Lab,
  { workflowId, runId }: Run,
  eventId: string,
  resetReapplyExcludeTypes: number[] = [],
): Promise<Run> {
  const { client, namespace } = lab.temporal;
  const answer = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    // A string of digits: ids of events are 64 bits wide.
    workflowTaskFinishEventId: eventId as unknown as Long,
    requestId: randomUUID(),
    reason: 'test',
    resetReapplyExcludeTypes,
  });
  return { workflowId, runId: answer.runId };
}

type Long = NonNullable<
  Parameters<Lab['temporal']['client']['workflowService']['resetWorkflowExecution']>[0]['workflowTaskFinishEventId']
>;

/** Result of one run, not of the workflow's newest. */
export const resultOf = (lab: Lab, run: Run): Promise<OrderResult> => workflowOf(lab, run).result();

/** Waits until the run has gone on by itself, past what was copied into it; fails where its tasks fail instead. */
export async function goesOn(lab: Lab, run: Run, copied: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const { events = [] } = await workflowOf(lab, run).fetchHistory();
      // A reset is a failed task itself; one that a callback overtook is made again. Neither is a difference.
      const differing = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => {
        const { message = '', resetWorkflowFailureInfo: ofReset } = failed?.failure ?? {};
        return !failed || ofReset || message === 'UnhandledCommand' ? [] : [message];
      });
      expect(differing, 'failed workflow tasks').toEqual([]);
      expect(events?.slice(copied).some((event) => event.workflowTaskCompletedEventAttributes)).toBe(true);
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Ends a run that would stay open. */
export const terminate = (lab: Lab, run: Run) => workflowOf(lab, run).terminate('end of the test');
