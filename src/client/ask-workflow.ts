import type { Client, WorkflowHandle } from '@temporalio/client';
import { isTimeOver } from './temporal-calls.js';

/** A worker answers a query at once or not at all. */
const FIRST_TIMEOUT_MS = 4_000;
const SECOND_TIMEOUT_MS = 11_000;

/**
 * The answer of a workflow's query, within 15 s. Asks twice: a question handed to a worker that has just gone is lost,
 * and costs its asker the whole wait.
 */
export async function askWorkflow<T>(client: Client, workflow: WorkflowHandle, name: string): Promise<T> {
  const ask = (timeoutMs: number) => client.withDeadline(Date.now() + timeoutMs, () => workflow.query<T>(name));
  return ask(FIRST_TIMEOUT_MS).catch((error: unknown) => {
    if (isTimeOver(error)) return ask(SECOND_TIMEOUT_MS);
    throw error;
  });
}
