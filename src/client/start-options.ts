import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  afterEndWorkflowId,
  BATCH_ROW_PRIORITY,
  DEFAULT_ACCOUNT,
  ORDER_AFTER_END_WORKFLOW,
  ORDER_CALLBACK_SIGNAL,
  ORDERS_TASK_QUEUE,
  orderWorkflowId,
  parseAfterEndWorkflowId,
  RECEIVED_DEPOSIT_WORKFLOW,
  receivedWorkflowId,
  searchAttribute,
} from '../contract/names.js';
import type { AfterEndResult } from '../contract/order/after-end.js';
import type { OrderInput, OrderResult, ReceivedDepositInput } from '../contract/order/input-and-result.js';
import type { CallbackHint } from '../contract/order/messages.js';
import { type OrderType, startAttributes, whatMoves } from '../contract/order/types.js';
import { startUnlessTaken } from './temporal-calls.js';

/** Single orders run before polls (3) and rows of batches (4). */
export const INTERACTIVE_PRIORITY = 2;

/** Returns one line for the list in the Temporal UI, at most 200 bytes. */
export const orderSummary = (type: OrderType, input: OrderInput): string => `${type} ${whatMoves(type, input.order)}`;

/** Order workflow as its callers see it. */
export type OrderWorkflow = (input: OrderInput) => Promise<OrderResult>;

/** Returns the start options of an order. A closed run keeps its id. `input` must be validated. */
export function orderStartOptions(type: OrderType, input: OrderInput) {
  return {
    workflowId: orderWorkflowId(input.account ?? DEFAULT_ACCOUNT, input.order.order_id),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    typedSearchAttributes: [
      ...startAttributes(type, input.account ?? DEFAULT_ACCOUNT, input.order, input),
      { key: searchAttribute.needsAttention, value: false },
    ],
    staticSummary: orderSummary(type, input),
    priority: { priorityKey: input.batchId === undefined ? INTERACTIVE_PRIORITY : BATCH_ROW_PRIORITY },
  } satisfies WorkflowStartOptions<OrderWorkflow>;
}

export type ReceivedWorkflow = (input: ReceivedDepositInput) => Promise<OrderResult>;

/** Returns the start options of a received order's follower. A closed run keeps its id. */
export function receivedStartOptions(input: ReceivedDepositInput) {
  const { account = DEFAULT_ACCOUNT, ref, order_uuid: orderUuid } = input;
  return {
    workflowId: receivedWorkflowId(account, orderUuid),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input] as [ReceivedDepositInput],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    typedSearchAttributes: [
      { key: searchAttribute.account, value: account },
      { key: searchAttribute.orderStatus, value: 'open' },
      { key: searchAttribute.orderUuid, value: orderUuid },
      { key: searchAttribute.needsAttention, value: false },
    ],
    staticSummary: `received on ${ref}`,
    priority: { priorityKey: INTERACTIVE_PRIORITY },
  } satisfies WorkflowStartOptions<ReceivedWorkflow>;
}

/** Signals the look-ups after the end of a workflow, or starts them. One run is open at a time. */
export async function lookUpAfterEnd(client: Client, ended: string, hint: CallbackHint = {}): Promise<void> {
  const workflowId = afterEndWorkflowId(ended);
  const { account = DEFAULT_ACCOUNT, orderId } = parseAfterEndWorkflowId(workflowId) ?? {};
  const { order_uuid: orderUuid } = hint;
  await client.workflow.signalWithStart<() => Promise<AfterEndResult>, [CallbackHint]>(ORDER_AFTER_END_WORKFLOW, {
    workflowId,
    taskQueue: ORDERS_TASK_QUEUE,
    typedSearchAttributes: [
      { key: searchAttribute.account, value: account },
      // The next run of the order looks it up, whatever these look-ups find.
      ...(orderUuid === undefined ? [] : [{ key: searchAttribute.orderUuid, value: orderUuid }]),
    ],
    staticSummary: `after the end of ${orderId}`,
    priority: { priorityKey: BATCH_ROW_PRIORITY },
    signal: ORDER_CALLBACK_SIGNAL,
    signalArgs: [hint],
  });
}

/**
 * Starts a received order's follower; returns false if there is or was one. `again` ignores one
 * that ended without an order.
 */
export async function startReceived(
  client: Client,
  input: ReceivedDepositInput,
  { again = false }: { again?: boolean } = {},
): Promise<boolean> {
  const options = {
    ...receivedStartOptions(input),
    ...(again && ({ workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' } as const)),
  };
  return (await startUnlessTaken<ReceivedWorkflow>(client, RECEIVED_DEPOSIT_WORKFLOW, options)) !== undefined;
}
