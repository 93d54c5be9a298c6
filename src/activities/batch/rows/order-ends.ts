import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { readLastEvent } from '../../../client/history.js';
import { callTemporal } from '../../../client/temporal-calls.js';
import type { BatchOutcomes } from '../../../contract/batch/batch.js';
import { isOrderFailure, ORDER_UNRESOLVED } from '../../../contract/failures.js';
import { searchAttribute } from '../../../contract/names.js';
import type { OrderResult } from '../../../contract/order/result.js';
import { whyUnreadable } from './unreadable.js';

/** Ends that say nothing about the order. */
const CLOSED_WITHOUT_RESULT = [
  'workflowExecutionTerminatedEventAttributes',
  'workflowExecutionTimedOutEventAttributes',
  'workflowExecutionCanceledEventAttributes',
] as const;

/**
 * How an order ended. 'none': without one that is known to be ours. 'lost': its workflow is closed without a verdict that can be read, or `gone` (never was); the order
 * may exist.
 */
export type OrderEnd =
  | { kind: 'final'; result: OrderResult }
  | { kind: 'none'; outcome: Extract<keyof BatchOutcomes, 'refused' | 'conflict'> }
  | { kind: 'lost'; reason: string; gone?: true };

/** How an order stands: as it ended, or what it waits for. */
export type OrderStanding = OrderEnd | { kind: 'open' } | { kind: 'parked' } | { kind: 'uncertain' };

const GONE: OrderEnd = { kind: 'lost', reason: 'Temporal does not know its workflow any more', gone: true };

/** The newest run of an order; undefined when there is none. */
export async function describeOrder(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await callTemporal(client, () => client.workflow.getHandle(workflowId).describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** How the newest run of an order stands; needs no worker. */
export async function readStanding(client: Client, workflowId: string): Promise<OrderStanding> {
  const found = await describeOrder(client, workflowId);
  if (!found) return GONE;
  if (found.status.name !== 'RUNNING') return readEnd(client, workflowId);
  const status = found.typedSearchAttributes.get(searchAttribute.orderStatus);
  return { kind: status === 'parked' || status === 'uncertain' ? status : 'open' };
}

/** Reads how the newest run of an order ended, in one call that does not wait; 'open' when it did not. */
export async function readEnd(client: Client, workflowId: string): Promise<OrderStanding> {
  const event = await readLastEvent(client, workflowId);
  if (event === 'unknown') return GONE;
  const completed = event?.workflowExecutionCompletedEventAttributes;
  const failed = event?.workflowExecutionFailedEventAttributes;
  if (completed) return endOfResult(client, completed.result?.payloads);
  if (failed) return endOfFailure(failed.failure?.applicationFailureInfo?.type);
  const terminated = event && CLOSED_WITHOUT_RESULT.some((attributes) => event[attributes]);
  return terminated ? { kind: 'lost', reason: 'its workflow was terminated' } : { kind: 'open' };
}

/** A result that cannot be read is no reason to ask for ever: the rows behind it have nothing to do with it. */
async function endOfResult(client: Client, payloads: Payload[] | null | undefined): Promise<OrderEnd> {
  const { loadedDataConverter } = client.workflow.options;
  try {
    const result = await decodeFromPayloadsAtIndex<OrderResult>(loadedDataConverter, 0, payloads);
    return { kind: 'final', result };
  } catch (error) {
    const why = whyUnreadable(error);
    if (!why) throw error;
    return { kind: 'lost', reason: `its result cannot be read (${why})` };
  }
}

function endOfFailure(type: string | null | undefined): OrderEnd {
  // A person looked and closed it: nobody is to be asked once more, and another order has the id.
  if (type === ORDER_UNRESOLVED) return { kind: 'none', outcome: 'conflict' };
  if (!isOrderFailure(type)) return { kind: 'lost', reason: `its workflow failed as ${type ?? 'something else'}` };
  return { kind: 'none', outcome: type === 'OrderConflict' ? 'conflict' : 'refused' };
}
