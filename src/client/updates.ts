import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isAbortedUpdate } from './temporal-calls.js';

/** Pauses between the attempts to hand an update in. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [200, 10_000];

/**
 * Hands an update in until the workflow takes it: Temporal drops one when the workflow task that carried it failed. The call
 * must name an update id, so that handing it in again is the same update. The caller's deadline ends it.
 */
export async function untilTaken<T>(update: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await update();
    } catch (error) {
      if (!isAbortedUpdate(error)) throw error;
    }
    await sleep(pauseMs);
  }
}

/** The server's failure type of an update whose workflow ended before the update did. */
const UPDATE_OUTLIVED_WORKFLOW = 'AcceptedUpdateCompletedWorkflow';

/** True when an update came too late: its workflow has ended or never was. */
export function cameTooLate(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === UPDATE_OUTLIVED_WORKFLOW;
}
