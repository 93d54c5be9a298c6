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

/** How a workflow was ended from outside. A cancelled order workflow ends by itself. */
type EndedOutside = 'terminated' | 'timed out' | 'cancelled';

/** State of an order by its newest run. Batches, reports and reconcile project it. */
export type Standing =
  /** Temporal has no such workflow: never started, or its retention is over. */
  | { kind: 'notStarted' }
  /** `waits`: for a person, for funds, or until it is clear whether the create was executed. */
  | { kind: 'open'; waits?: 'parked' | 'uncertain' | 'short' }
  | { kind: 'completed'; result: OrderResult }
  /** The run ended because no order of ours exists. */
  | { kind: 'noOrder'; failure: OrderFailure }
  /**
   * The run ended unresolved; the order may exist. 'closed': by a person. 'failed': with `type`,
   * which is no failure of orders.
   */
  | { kind: 'unresolved'; how: EndedOutside | 'closed' | 'failed'; type?: string }
  /** The result, or already the input, is encrypted with a missing key or damaged. */
  | { kind: 'unreadable'; what: 'result' | 'input'; why: string };

const OUTSIDE: Readonly<Record<string, EndedOutside>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed out',
  CANCELLED: 'cancelled',
};

/** Returns the state by a description; undefined if only the last event tells. */
export function standingOfRun({
  status,
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'status' | 'typedSearchAttributes'>): Standing | undefined {
  const how = OUTSIDE[status.name];
  if (how) return { kind: 'unresolved', how };
  if (status.name !== 'RUNNING') return undefined;
  const waits = typedSearchAttributes.get(searchAttribute.orderStatus);
  return waits === 'parked' || waits === 'uncertain' || waits === 'short' ? { kind: 'open', waits } : { kind: 'open' };
}

/** Returns the state by a failure: no order of ours exists, or it is unresolved. */
export function standingOfFailure(
  type: string | null | undefined,
): Extract<Standing, { kind: 'noOrder' | 'unresolved' }> {
  if (isOrderFailure(type)) return { kind: 'noOrder', failure: type };
  if (type === ORDER_UNRESOLVED) return { kind: 'unresolved', how: 'closed' };
  return { kind: 'unresolved', how: 'failed', ...(type && { type }) };
}

/** Returns the state by the newest event. The result of a completed run is still encoded. */
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

/** Reads how a run ended in one call that does not wait; 'open' if it has not ended. */
export async function readEnd(client: Client, workflowId: string, runId: string): Promise<Standing> {
  const event = await readLastEvent(client, workflowId, runId);
  if (event === 'unknown') return { kind: 'notStarted' };
  const standing = standingOfEvent(event);
  const context = ofWorkflow(client, workflowId);
  try {
    // The failure's type says whether an order exists. It counts only if one of our workers wrote
    // it.
    await refuseForeignEnd(client, event, { workflowId, runId });
    if (standing.kind !== 'completed') return standing;
    return { kind: 'completed', result: orderResult(await decodeFirst(client, standing.encoded, context)) };
  } catch (error) {
    const why = whyUnreadable(error);
    if (why === undefined) throw error;
    return { kind: 'unreadable', what: 'result', why };
  }
}

/** Returns the result of an order workflow. Throws PayloadDecryptionError for any other payload. */
export function orderResult(value: unknown): OrderResult {
  const { outcome } = (value ?? {}) as Partial<OrderResult>;
  if (isFinal(String(outcome))) return value as OrderResult;
  throw new PayloadDecryptionError('the workflow ended with something that is no result of an order', 'foreign');
}

/** Returns the state of the newest run, with why it waits. Needs no worker. */
export async function readStanding(client: Client, workflowId: string): Promise<Standing> {
  return standingOf(client, await describeRun(client, workflowId));
}

/** Returns the same for a run that was already described. */
export async function standingOf(client: Client, run: WorkflowExecutionDescription | undefined): Promise<Standing> {
  if (!run) return { kind: 'notStarted' };
  return standingOfRun(run) ?? readEnd(client, run.workflowId, run.runId);
}

/** Returns the newest run of a workflow id, or `runId`; undefined if there is none. */
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

/** Returns why a payload can never be read here; undefined for errors that may pass. */
export function whyUnreadable(error: unknown): string | undefined {
  if (PayloadDecryptionError.is(error)) return error.message;
  // The errors of the converter and of JSON.parse quote the payload.
  return error instanceof ValueError || error instanceof SyntaxError ? 'payload cannot be decoded' : undefined;
}

/** Attempt from which a workflow task counts as stuck. One failure may be a worker that stopped. */
const STUCK_FROM_ATTEMPT = 3;

/** Returns true for an open run whose workflow task keeps failing: it raises no attention. */
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
