import {
  type Client,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isOrderFailure } from '../contract/failures.js';
import { NotDecidedYetError, OrderFailedError, OrderUnresolvedError, UnknownOrderError } from './errors.js';
import { fieldsOfFailure } from './failure-details.js';
import { isTimeOver, translated } from './temporal-calls.js';

/** The server's failure type of an update whose workflow ended before the update did. */
const UPDATE_OUTLIVED_WORKFLOW = 'AcceptedUpdateCompletedWorkflow';

/** How long a call may wait for the order, in milliseconds. Omitted = as long as it takes, which may be days. */
export interface WaitOptions {
  timeoutMs?: number;
}

/** Which order a call is about. `received`: one that a receipt made, named by its order_uuid. */
export interface OrderKey {
  account: string;
  orderId: string;
  received: boolean;
}

/** What the end of a workflow or update says about the order: no order of ours exists, or nothing is known. */
function failureOf({ orderId, received }: OrderKey, cause: unknown): Error {
  if (cause instanceof ApplicationFailure && isOrderFailure(cause.type)) {
    return new OrderFailedError(orderId, cause.type, cause.message, fieldsOfFailure(cause), { received });
  }
  return new OrderUnresolvedError(orderId, cause instanceof Error ? cause.message : 'no reason given');
}

/** True when an update came too late: its workflow has ended or never was. */
export function cameTooLate(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === UPDATE_OUTLIVED_WORKFLOW;
}

/** The library's error for what the SDK threw. */
export async function explain(client: Client, order: OrderKey, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowNotFoundError) return new UnknownOrderError(order.orderId, order.account);
  if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) {
    return failureOf(order, error.cause);
  }
  return translated(client, error);
}

/** Runs a call that waits for an order and says in the library's errors why it did not get there. */
export async function waitForOrder<T>(
  client: Client,
  order: OrderKey,
  call: () => Promise<T>,
  { timeoutMs }: WaitOptions = {},
): Promise<T> {
  try {
    return timeoutMs === undefined ? await call() : await client.withDeadline(Date.now() + timeoutMs, call);
  } catch (error) {
    const timedOut = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTimeOver(error);
    throw timedOut && timeoutMs !== undefined
      ? new NotDecidedYetError(order.orderId)
      : await explain(client, order, error);
  }
}
