import { type Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { InvalidInputError } from './errors.js';
import { callTemporal, isTimeOver, translated } from './temporal-calls.js';

/** Longer timers fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Bound of the one question that follows a time-out: whoever waits wants an answer soon. */
export const CONFIRM_TIMEOUT_MS = 5_000;

/** How long a call may wait, in milliseconds above 0. Omitted = as long as it takes, which may be days. */
export interface WaitOptions {
  timeoutMs?: number;
}

/** What the endings of a workflow without a result mean to whoever waits for it. */
export interface Meanings {
  unknown: () => Error;
  /** Resolves when Temporal is known to have what is waited for: nothing else goes on by itself after a time-out. */
  confirm: () => Promise<void>;
  notDecidedYet: () => Error;
  /** `cause`: why the workflow or the update failed. */
  failed: (cause: unknown) => Error;
  /** As CallOptions have it. */
  unanswered?: string;
}

/** A workflow that is waited for; `attached` is set when Temporal has accepted its start or named it as started before. */
export interface AwaitedWorkflow {
  workflowId: string;
  attached?: boolean;
}

/** What Temporal has named after a time-out: it is not asked again at every next one. */
const confirmed = new WeakSet<AwaitedWorkflow>();

/** Resolves when Temporal has the workflow. Throws as the SDK does when it has not, and TemporalUnreachableError. */
export async function confirmStarted(client: Client, workflow: AwaitedWorkflow): Promise<void> {
  if (workflow.attached !== undefined || confirmed.has(workflow)) return;
  const handle = client.workflow.getHandle(workflow.workflowId);
  await callTemporal(client, () => handle.describe(), { timeoutMs: CONFIRM_TIMEOUT_MS });
  confirmed.add(workflow);
}

/** The time to wait, cut to what timers can take. Throws InvalidInputError; call it before anything is started. */
export function checkTimeout({ timeoutMs }: WaitOptions): number | undefined {
  if (timeoutMs === undefined) return undefined;
  if (Number.isFinite(timeoutMs) && timeoutMs > 0) return Math.min(timeoutMs, MAX_TIMEOUT_MS);
  throw new InvalidInputError([{ field: 'timeoutMs', reason: 'must be a number of milliseconds above 0' }]);
}

/** The library's error for what the SDK threw. */
export async function explained(
  client: Client,
  { unknown, failed, unanswered }: Meanings,
  error: unknown,
): Promise<unknown> {
  if (error instanceof WorkflowNotFoundError) return unknown();
  if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) return failed(error.cause);
  return translated(client, error, unanswered);
}

/** Runs a call that waits for a workflow and says in the library's errors why it did not get there. */
export async function waitWithin<T>(
  client: Client,
  meanings: Meanings,
  call: () => Promise<T>,
  options: WaitOptions = {},
): Promise<T> {
  const timeoutMs = checkTimeout(options);
  try {
    return timeoutMs === undefined ? await call() : await client.withDeadline(Date.now() + timeoutMs, call);
  } catch (error) {
    throw timeoutMs !== undefined && isTimeOver(error)
      ? await afterTimeOut(client, meanings)
      : await explained(client, meanings, error);
  }
}

async function afterTimeOut(client: Client, meanings: Meanings): Promise<unknown> {
  try {
    await meanings.confirm();
    return meanings.notDecidedYet();
  } catch (error) {
    return explained(client, meanings, error);
  }
}
