import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { type BatchRow, orderInputOf } from '../../batch-files/index.js';
import { AgainRefusedError, InvalidInputError, OrderConflictError } from '../../client/errors.js';
import { checkOrderInput, startOrder, startOrderAgain } from '../../client/start-order.js';
import { callTemporal } from '../../client/temporal-calls.js';
import type { OpenRow, SendBatchRowsInput } from '../../contract/batches.js';
import { orderWorkflowId } from '../../contract/ids.js';
import type { OrderInput } from '../../contract/orders.js';
import { searchAttribute } from '../../contract/search-attributes.js';

/** Which batch rows are started for. */
export type Batch = Pick<SendBatchRowsInput, 'account' | 'input' | 'startedAt'>;

/** What a start came to: an order that is followed now, or none of ours. */
export type StartedRow = { kind: 'open'; open: OpenRow } | { kind: 'refused' } | { kind: 'conflict' };

/**
 * Starts the order of a row, or attaches to the one its id has: however often a row is started, one order comes of it.
 * Throws only when Temporal did not take it; the row may be started again then.
 */
export async function startRow(client: Client, batch: Batch, row: BatchRow): Promise<StartedRow> {
  try {
    if (row.problem) throw new InvalidInputError(row.problem);
    const input = checkOrderInput('withdraw', orderInputOf(row, batch.input));
    const orderId = input.order.order_id;
    if (batch.input.again) await startAnew(client, batch, input);
    else await startOrder(client, 'withdraw', input);
    return { kind: 'open', open: { row: row.row, orderId } };
  } catch (error) {
    if (error instanceof InvalidInputError) return { kind: 'refused' };
    if (error instanceof OrderConflictError) return { kind: 'conflict' };
    throw error;
  }
}

/** With `again`: an id that ended without an order before this batch began is used once more. */
async function startAnew(client: Client, batch: Batch, input: OrderInput<'withdraw'>): Promise<void> {
  const found = await describeOrder(client, orderWorkflowId(batch.account, input.order.order_id));
  // What this batch started itself is not started a second time when a chunk is repeated.
  if (!found || found.status.name === 'RUNNING' || startedBy(batch, found)) {
    await startOrder(client, 'withdraw', input);
    return;
  }
  try {
    await startOrderAgain(client, 'withdraw', input);
  } catch (error) {
    if (!(error instanceof AgainRefusedError)) throw error;
    await startOrder(client, 'withdraw', input);
  }
}

/** True for a run that this run of the batch started, not one before it or another batch. */
export const startedBy = ({ input, startedAt }: Batch, found: WorkflowExecutionDescription): boolean =>
  found.typedSearchAttributes.get(searchAttribute.batchId) === input.batchId &&
  found.startTime.getTime() >= Date.parse(startedAt);

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
