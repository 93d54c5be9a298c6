import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isOrderFailure, ORDER_UNRESOLVED } from '../contract/failures.js';
import { NotDecidedYetError, OrderFailedError, OrderUnresolvedError, UnknownOrderError } from './errors.js';
import { fieldsOfFailure } from './failure-details.js';
import {
  type AwaitedWorkflow,
  confirmStarted,
  explained,
  type Meanings,
  type WaitOptions,
  waitWithin,
} from './wait.js';

/** The server's failure type of an update whose workflow ended before the update did. */
const UPDATE_OUTLIVED_WORKFLOW = 'AcceptedUpdateCompletedWorkflow';

/** Which order a call is about. `received`: one that a receipt made, named by its order_uuid. */
export interface OrderKey extends AwaitedWorkflow {
  account: string;
  orderId: string;
  received: boolean;
}

/** What the end of a workflow or update says about the order: no order of ours exists, or nothing is known. */
function failureOf({ orderId, received }: OrderKey, cause: unknown): Error {
  if (cause instanceof ApplicationFailure && isOrderFailure(cause.type)) {
    return new OrderFailedError(orderId, cause.type, cause.message, fieldsOfFailure(cause), { received });
  }
  const closed = cause instanceof ApplicationFailure && cause.type === ORDER_UNRESOLVED;
  return new OrderUnresolvedError(orderId, cause instanceof Error ? cause.message : 'no reason given', closed);
}

/** True when an update came too late: its workflow has ended or never was. */
export function cameTooLate(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === UPDATE_OUTLIVED_WORKFLOW;
}

const meaningsOf = (client: Client, order: OrderKey): Meanings => ({
  unknown: () => new UnknownOrderError(order.orderId, order.account),
  confirm: () => confirmStarted(client, order),
  notDecidedYet: () => new NotDecidedYetError(order.orderId),
  failed: (cause) => failureOf(order, cause),
});

/** The library's error for what the SDK threw about an order. */
export const explain = (client: Client, order: OrderKey, error: unknown): Promise<unknown> =>
  explained(client, meaningsOf(client, order), error);

/** Runs a call that waits for an order and says in the library's errors why it did not get there. `meanings`: where they differ. */
export const waitForOrder = <T>(
  client: Client,
  order: OrderKey,
  call: () => Promise<T>,
  options?: WaitOptions,
  meanings: Partial<Meanings> = {},
): Promise<T> => waitWithin(client, { ...meaningsOf(client, order), ...meanings }, call, options);
