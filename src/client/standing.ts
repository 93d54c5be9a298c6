import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type Payload, ValueError } from '@temporalio/common';
import { isOrderFailure, ORDER_UNRESOLVED, type OrderFailure } from '../contract/failures.js';
import { searchAttribute } from '../contract/names.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import { isFinal } from '../contract/service-objects.js';
import { PayloadDecryptionError } from './errors.js';
import { decodeFirst, type HistoryEvent, ofWorkflow, readLastEvent, refuseForeignEnd } from './history.js';
import { callTemporal } from './temporal-calls.js';

/** How a workflow was stopped from outside. A cancelled order workflow ends by itself. */
export type Stopped = 'terminated' | 'timed out' | 'cancelled';

/** How an order stands, by the newest run of its workflow. What batches, reports and reconcile show is a projection of it. */
export type Standing =
  /** Temporal knows no workflow of it: never started, or removed since. */
  | { kind: 'notStarted' }
  /** `waits`: for a person, or until it is known whether its create was executed. */
  | { kind: 'open'; waits?: 'parked' | 'uncertain' }
  | { kind: 'completed'; result: OrderResult }
  /** It ended because no order of ours exists. */
  | { kind: 'noOrder'; failure: OrderFailure }
  /** It ended unknown, the order may exist. 'closed': by a person; 'failed': as `type`, which is no failure of orders. */
  | { kind: 'unresolved'; how: Stopped | 'closed' | 'failed'; type?: string }
  /** Encrypted with a key that is not here, or damaged: its result, or already what it was started with. */
  | { kind: 'unreadable'; what: 'result' | 'input'; why: string };

const STOPPED_STATUS: Readonly<Record<string, Stopped>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed out',
  CANCELLED: 'cancelled',
};

/** What the description of a run says of its order; undefined where it ended by itself: its last event tells. */
export function standingOfRun({
  status,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): Standing | undefined {
  const how = STOPPED_STATUS[status.name];
  if (how) return { kind: 'unresolved', how };
  if (status.name !== 'RUNNING') return undefined;
  const waits = typedSearchAttributes.get(searchAttribute.orderStatus);
  return waits === 'parked' || waits === 'uncertain' ? { kind: 'open', waits } : { kind: 'open' };
}

/** What the failure of an order workflow says: no order of ours exists, or nothing is known. */
export function standingOfFailure(
  type: string | null | undefined,
): Extract<Standing, { kind: 'noOrder' | 'unresolved' }> {
  if (isOrderFailure(type)) return { kind: 'noOrder', failure: type };
  if (type === ORDER_UNRESOLVED) return { kind: 'unresolved', how: 'closed' };
  return { kind: 'unresolved', how: 'failed', ...(type && { type }) };
}

/** What the newest event of a run says; the result of a completed one is encoded still. */
export function standingOfEvent(
  event: HistoryEvent,
): Exclude<Standing, { kind: 'completed' }> | { kind: 'completed'; encoded: { payloads?: Payload[] | null } } {
  if (event?.workflowExecutionCompletedEventAttributes) {
    return { kind: 'completed', encoded: event.workflowExecutionCompletedEventAttributes.result ?? {} };
  }
  if (event?.workflowExecutionFailedEventAttributes) {
    return standingOfFailure(event.workflowExecutionFailedEventAttributes.failure?.applicationFailureInfo?.type);
  }
  if (event?.workflowExecutionTerminatedEventAttributes) return { kind: 'unresolved', how: 'terminated' };
  if (event?.workflowExecutionTimedOutEventAttributes) return { kind: 'unresolved', how: 'timed out' };
  if (event?.workflowExecutionCanceledEventAttributes) return { kind: 'unresolved', how: 'cancelled' };
  return { kind: 'open' };
}

/** Reads how a run ended, in one call that does not wait; 'open' when it did not. */
export async function readEnd(client: Client, workflowId: string, runId: string): Promise<Standing> {
  const event = await readLastEvent(client, workflowId, runId);
  if (event === 'unknown') return { kind: 'notStarted' };
  const standing = standingOfEvent(event);
  const context = ofWorkflow(client, workflowId);
  try {
    // The type of a failure says whether an order exists: it counts only as the word of a worker of ours.
    await refuseForeignEnd(client, event, { workflowId, runId });
    if (standing.kind !== 'completed') return standing;
    return { kind: 'completed', result: orderResult(await decodeFirst(client, standing.encoded, context)) };
  } catch (error) {
    const why = whyUnreadable(error);
    if (why === undefined) throw error;
    return { kind: 'unreadable', what: 'result', why };
  }
}

/** Returns the result of an order workflow. Throws PayloadDecryptionError for a copy of anything else. */
export function orderResult(value: unknown): OrderResult {
  const { outcome } = (value ?? {}) as Partial<OrderResult>;
  if (isFinal(String(outcome))) return value as OrderResult;
  throw new PayloadDecryptionError('the workflow ended with something that is no result of an order', 'foreign');
}

/** Reads how the newest run of an order stands, also why it waits. Needs no worker. */
export async function readStanding(client: Client, workflowId: string): Promise<Standing> {
  return standingOf(client, await describeRun(client, workflowId));
}

/** The same of a run that was described already. */
export async function standingOf(client: Client, run: WorkflowExecutionDescription | undefined): Promise<Standing> {
  if (!run) return { kind: 'notStarted' };
  return standingOfRun(run) ?? readEnd(client, run.workflowId, run.runId);
}

/** The newest run of a workflow id, or `runId`; undefined when there is none. */
export async function describeRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await callTemporal(client, () => client.workflow.getHandle(workflowId, runId).describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Why a payload can never be read here, with nothing of what it holds; undefined for errors that may pass. */
export function whyUnreadable(error: unknown): string | undefined {
  if (PayloadDecryptionError.is(error)) return error.message;
  // The converter's own errors and those of JSON.parse quote the payload.
  return error instanceof ValueError || error instanceof SyntaxError ? 'payload cannot be decoded' : undefined;
}

/** A workflow task that failed twice in a row: the first time may have been a worker that went. */
const STUCK_FROM_ATTEMPT = 3;

/** Returns true for an open run whose workflow task keeps failing, so that it raises no attention itself. */
export async function isStuck(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<boolean> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) >= STUCK_FROM_ATTEMPT;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
