import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { type BatchRow, orderInputOf } from '../../../batch-files/source.js';
import { accepted } from '../../../client/checked-input.js';
import { ConflictError, InvalidInputError, RefusedError } from '../../../client/errors.js';
import { describeRun, readStanding, type Standing, whyUnreadable } from '../../../client/standing.js';
import { startOrder, startOrderAgain } from '../../../client/start-order.js';
import type { SendBatchRowsInput } from '../../../contract/batch/activities.js';
import type { BatchProgress } from '../../../contract/batch/batch.js';
import { orderWorkflowId, searchAttribute } from '../../../contract/names.js';
import type { OrderInput } from '../../../contract/order/input-and-result.js';
import { validateOrderInput } from '../../../validation/order-input.js';

export interface BatchWork {
  client: Client;
  batch: SendBatchRowsInput;
  progress: BatchProgress;
}

/** Row after its start. `orderId` is absent without an order. */
export interface StartedRow {
  row: number;
  orderId?: string;
  standing: Standing;
}

/**
 * Starts a row's order or attaches to it, so that repetitions create one order. Throws if Temporal
 * did not accept it. `confirm` throws right before the start if the batch may have been stopped.
 */
export async function startRow(
  { client, batch }: BatchWork,
  content: BatchRow,
  confirm: () => void,
): Promise<StartedRow> {
  const { row, problem } = content;
  let orderId: string | undefined;
  try {
    if (problem) throw new InvalidInputError(problem);
    // The account's setting for our own format rules applies in plan and create.
    const checks = { formatChecks: 'warn', started: true } as const;
    const input = accepted(validateOrderInput('withdraw', orderInputOf(content, batch.input), checks));
    orderId = input.order.order_id;
    const found = batch.input.again && (await describeRun(client, orderWorkflowId(batch.account, orderId)));
    confirm();
    const attached = await (found ? startAnew(client, batch, input, found) : start(client, input));
    if (!attached) return { row, orderId, standing: { kind: 'open' } };
    const standing = await readStanding(client, orderWorkflowId(batch.account, orderId));
    return { row, orderId, standing };
  } catch (error) {
    if (error instanceof InvalidInputError) return { row, standing: { kind: 'noOrder', failure: 'InvalidOrder' } };
    if (error instanceof ConflictError) return { row, standing: { kind: 'noOrder', failure: 'OrderConflict' } };
    const why = whyUnreadable(error);
    if (!why || orderId === undefined) throw error;
    // A row that cannot be compared needs a person, and must not hold up later rows.
    return { row, orderId, standing: { kind: 'unreadable', what: 'input', why } };
  }
}

/** Starts the order. Returns true if it existed. */
const start = async (client: Client, input: OrderInput<'withdraw'>): Promise<boolean> =>
  (await startOrder(client, 'withdraw', input)).attached === true;

/** With `again`, reuses an id whose run ended without an order before this batch. */
async function startAnew(
  client: Client,
  batch: SendBatchRowsInput,
  input: OrderInput<'withdraw'>,
  found: WorkflowExecutionDescription,
): Promise<boolean> {
  // A repeated chunk must not start the batch's own orders again.
  if (found.status.name === 'RUNNING' || startedBy(batch, found)) return start(client, input);
  try {
    await startOrderAgain(client, 'withdraw', input);
    return false;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return start(client, input);
  }
}

/** Returns true if a run of the batch started `found`. */
export const isOfBatch = ({ input }: SendBatchRowsInput, found: WorkflowExecutionDescription): boolean =>
  found.typedSearchAttributes.get(searchAttribute.batchId) === input.batchId;

/** Returns true if this run of the batch started `found`. */
export const startedBy = (batch: SendBatchRowsInput, found: WorkflowExecutionDescription): boolean =>
  isOfBatch(batch, found) && found.startTime.getTime() >= Date.parse(batch.startedAt);
