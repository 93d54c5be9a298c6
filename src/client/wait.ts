import {
  type Client,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { isTimeOver, translated } from './temporal-calls.js';

/** How long a call may wait, in milliseconds. Omitted = as long as it takes, which may be days. */
export interface WaitOptions {
  timeoutMs?: number;
}

/** What the endings of a workflow without a result mean to whoever waits for it. */
export interface Meanings {
  unknown: () => Error;
  notDecidedYet: () => Error;
  /** `cause`: why the workflow or the update failed. */
  failed: (cause: unknown) => Error;
}

/** The library's error for what the SDK threw. */
export async function explained(client: Client, { unknown, failed }: Meanings, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowNotFoundError) return unknown();
  if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) return failed(error.cause);
  return translated(client, error);
}

/** Runs a call that waits for a workflow and says in the library's errors why it did not get there. */
export async function waitWithin<T>(
  client: Client,
  meanings: Meanings,
  call: () => Promise<T>,
  { timeoutMs }: WaitOptions = {},
): Promise<T> {
  try {
    return timeoutMs === undefined ? await call() : await client.withDeadline(Date.now() + timeoutMs, call);
  } catch (error) {
    const timedOut = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTimeOver(error);
    throw timedOut && timeoutMs !== undefined ? meanings.notDecidedYet() : await explained(client, meanings, error);
  }
}
