import type { Client } from '@temporalio/client';
import { isOrderFailure, mayHaveSent } from '../contract/failures.js';
import { readFirstInput } from './first-input.js';
import { readLastEvent } from './last-event.js';

/**
 * Until when the runs that an order id had may have sent, as an ISO time; undefined: none of them sent anything. A run that
 * sent nothing itself hands on what it was told of those before it.
 */
export async function sentUntilOf(client: Client, workflowId: string): Promise<string | undefined> {
  const event = await readLastEvent(client, workflowId);
  const end = event === 'unknown' ? undefined : event;
  const type = end?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.type;
  // Anything else may have sent until now: somebody else started it again.
  if (!isOrderFailure(type)) return new Date().toISOString();
  if (mayHaveSent(type)) return timeOf(end?.eventTime);
  const { input } = await readFirstInput(client, workflowId);
  return isTime(input.sentUntil) ? input.sentUntil : undefined;
}

/** Inputs may be anything: only what the new run can read is handed on. */
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const timeOf = (time: { seconds?: unknown; nanos?: unknown } | null | undefined): string =>
  new Date(Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6).toISOString();
