import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ConflictError, FailedError, UnresolvedError } from '../../../client/errors.js';
import { OrderHandle } from '../../../client/order-handle.js';
import { refuseOtherInput } from '../../../client/start-order.js';
import type { BatchOutcomes } from '../../../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../../../contract/ids.js';
import { maskName } from '../../../contract/masking.js';
import { searchAttribute } from '../../../contract/names.js';
import type { OrderInput } from '../../../contract/order/input.js';
import type { Order } from '../../../contract/order/order.js';
import type { OrderResult } from '../../../contract/order/result.js';
import { describeOrder, type OrderStanding, readEnd } from '../rows/order-ends.js';
import { whyUnreadable } from '../rows/unreadable.js';

/**
 * What a report says of a row. Beside the outcomes of a batch: 'open' (still followed) and 'unresolved' (its workflow was
 * terminated, or Temporal has it no more: the order may exist).
 */
export type RowOutcome = keyof BatchOutcomes | 'open' | 'unresolved';

/** How the order of a row stands; `order` is absent while none is known at the service. */
export interface RowEnd {
  outcome: RowOutcome;
  order?: Order;
  reason?: string;
}

const GONE = 'Temporal does not know its workflow any more; the order may exist, look it up at the service';

/**
 * Reads from Temporal how the order of a row ended, whichever batch or person started it. An order under the row's id
 * that was started with another input is a conflict, whatever became of it. `taken`: the batch took the row, so that a
 * workflow which is not there was removed since, and says nothing about the payout.
 */
export async function readRowEnd(client: Client, input: OrderInput<'withdraw'>, taken: boolean): Promise<RowEnd> {
  const handle = new OrderHandle(client, input.account ?? DEFAULT_ACCOUNT, input.order.order_id);
  // The common end in one call; only the others are worth more of them.
  const end = await readEnd(client, handle.workflowId);
  if (end.kind === 'lost' && end.gone)
    return taken ? { outcome: 'unresolved', reason: GONE } : { outcome: 'notStarted' };
  let compared = false;
  try {
    await refuseOtherInput(client, 'withdraw', input);
    compared = true;
    if (end.kind === 'final') return endOf(end.result);
    const description = await describeOrder(client, handle.workflowId);
    return description?.status.name === 'RUNNING' ? await openEnd(handle, description) : endOf(await handle.result());
  } catch (error) {
    const found = endWithoutResult(error) ?? unreadableEnd(error, compared ? end : undefined);
    if (!found) throw error;
    return found;
  }
}

/** An order that goes on. Why it waits is told by its workflow; without an answer the report does without. */
async function openEnd(handle: OrderHandle, { typedSearchAttributes }: WorkflowExecutionDescription): Promise<RowEnd> {
  const parked = typedSearchAttributes.get(searchAttribute.orderStatus) === 'parked';
  const state = await handle.state().catch(() => undefined);
  const reason = state?.attention?.reason;
  return {
    outcome: parked ? 'parked' : 'open',
    ...(state?.order && { order: state.order }),
    ...(reason && { reason }),
  };
}

function endOf(result: OrderResult): RowEnd {
  const reason = reasonOf(result);
  return { outcome: result.outcome, order: result.order, ...(reason && { reason }) };
}

/** What makes an end worth a look; '' for a payout that simply was made. */
function reasonOf({ order, remainder = [], remainderUnknown, compensation }: OrderResult): string {
  return [
    // The service's own words may hold anything.
    ...(order.error_message ? [maskName(order.error_message)] : []),
    ...remainder.map(({ kind, amount, currency }) => `${amount} ${currency} ${kind}`),
    ...(remainderUnknown ? [remainderUnknown] : []),
    ...(compensation && compensation.status !== 'none' ? [`compensation ${compensation.status}`] : []),
    ...(compensation?.reason ? [compensation.reason] : []),
  ].join('; ');
}

function endWithoutResult(error: unknown): RowEnd | undefined {
  if (!(error instanceof Error)) return undefined;
  const reason = error.message;
  if (error instanceof ConflictError) return { outcome: 'conflict', reason };
  if (error instanceof FailedError) {
    return { outcome: error.type === 'OrderConflict' ? 'conflict' : 'refused', reason };
  }
  if (error instanceof UnresolvedError) return { outcome: error.closed ? 'conflict' : 'unresolved', reason };
  return undefined;
}

/** An end whose payload cannot be read here; that no order exists is told by the failure's type, which is not encrypted. */
function unreadableEnd(error: unknown, end: OrderStanding | undefined): RowEnd | undefined {
  const why = whyUnreadable(error);
  if (!why) return undefined;
  if (end?.kind === 'none') return { outcome: end.outcome, reason: why };
  return { outcome: 'unresolved', reason: `what became of it cannot be read (${why}); look it up at the service` };
}
