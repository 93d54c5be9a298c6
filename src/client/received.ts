import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  DEFAULT_ACCOUNT,
  ORDERS_TASK_QUEUE,
  RECEIVED_DEPOSIT_WORKFLOW,
  receivedWorkflowId,
  searchAttribute,
} from '../contract/names.js';
import type { OrderResult, ReceivedDepositInput } from '../contract/order/input-and-result.js';
import { detailsTable, INTERACTIVE_PRIORITY } from './start-options.js';
import { startUnlessTaken } from './temporal-calls.js';

/** The `receivedDeposit` workflow. */
export type ReceivedWorkflow = (input: ReceivedDepositInput) => Promise<OrderResult>;

/** How the follower of a received order is started; a closed run's id is taken. */
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
    staticDetails: detailsTable([
      ['order_uuid', orderUuid],
      ['address', ref],
      ['account', account],
      ['compensation', input.compensation ?? 'by the table'],
    ]),
    priority: { priorityKey: INTERACTIVE_PRIORITY },
  } satisfies WorkflowStartOptions<ReceivedWorkflow>;
}

/**
 * Starts the follower of a received order. False: there is or was one. `again`: one that ended without an order (it came
 * too early, or the address was not listed) does not count.
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
