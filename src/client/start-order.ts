import type { Client } from '@temporalio/client';
import { startDifferences } from '../contract/differences/starts.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../contract/names.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import { type OrderType, workflowTypeOf } from '../contract/order/types.js';
import { FOREIGN_START } from '../contract/refused.js';
import { maskWallets } from '../contract/wallets.js';
import { ConflictError, PayloadDecryptionError, RefusedError } from './errors.js';
import { readFirstInput } from './history.js';
import { OrderHandle, type OrderHandleOptions } from './order-handle.js';
import { sentEarlier } from './sent-earlier.js';
import { describeRun, readStanding, type Standing, standingOf } from './standing.js';
import { type OrderWorkflow, orderStartOptions } from './start-options.js';
import { type CallOptions, callTemporal, startAfter, startUnlessTaken } from './temporal-calls.js';

/**
 * Throws ConflictError unless the run has the same type and input. `recovered`: it only reports.
 */
export async function refuseOtherInput(
  client: Client,
  type: OrderType,
  input: OrderInput,
  options?: CallOptions,
): Promise<{ recovered: boolean }> {
  const orderId = input.order.order_id;
  const workflowId = orderWorkflowId(input.account ?? DEFAULT_ACCOUNT, orderId);
  const first = await callTemporal(client, () => readFirstInput(client, workflowId), options);
  const fields = startDifferences(type, input, first);
  if (fields.length === 0) return { recovered: Boolean(first.input.recovered) };
  // In doubt, the order may be paid.
  const standing = await readStanding(client, workflowId).catch(() => undefined);
  throw new ConflictError('order', orderId, fields, standing?.kind === 'noOrder' ? standing.failure : undefined);
}

const handleOf = (client: Client, input: OrderInput, options?: OrderHandleOptions): OrderHandle =>
  new OrderHandle(client, input.account ?? DEFAULT_ACCOUNT, input.order.order_id, options);

/** Returns the sentence for a start without an answer. A repeated start finds the run. */
export const unanswered = ({ order }: OrderInput): string =>
  `It is not known whether order ${maskWallets(order.order_id)} was started: send the same input under the same id again, which is safe`;

/** Starts a checked order, or attaches to the run with its id. Throws ConflictError. */
export async function startOrder(client: Client, type: OrderType, input: OrderInput): Promise<OrderHandle> {
  const options = orderStartOptions(type, input);
  const started = await startUnlessTaken<OrderWorkflow>(client, workflowTypeOf(type), options, unanswered(input));
  if (started) return handleOf(client, input, { attached: false, started: started.firstExecutionRunId });
  const { recovered } = await refuseOtherInput(client, type, input);
  return handleOf(client, input, { attached: true, recovered });
}

/** Returns why an order may not be started again; undefined if it may. */
export function whyNotAgain(
  standing: Standing,
  { sentUntil }: OrderInput,
): { reason: string; undecided: boolean } | undefined {
  switch (standing.kind) {
    case 'open':
      return { reason: 'it is still open: wait for it, or decide where it waits for a person', undecided: true };
    case 'completed':
      return { reason: `it exists at the service and ended ${standing.result.outcome}`, undecided: false };
    case 'unresolved': {
      const closed = standing.how === 'closed';
      // The input was not authentic, but an earlier run may have sent.
      if (standing.type === FOREIGN_START || (sentUntil && !closed)) return undefined;
      const how = closed ? 'a person closed it in doubt' : 'its workflow was terminated or broke';
      const next = 'look for it at the service; where it is not final, `reconcile --recover` has it followed';
      const absent = closed
        ? ''
        : '. Where it is not there, give "sentUntil": "<now>" beside "order": it is settled first';
      return { reason: `${how}, and the order may exist: ${next}${absent}`, undecided: true };
    }
    case 'unreadable':
      throw new PayloadDecryptionError(standing.why);
    case 'noOrder':
    case 'notStarted':
      return undefined;
  }
}

/**
 * Starts an order again after a run that ended without one. The new run looks for what that run may
 * have sent. Throws RefusedError, and ConflictError if a caller has already started it again with
 * another input.
 */
export async function startOrderAgain(client: Client, type: OrderType, input: OrderInput): Promise<OrderHandle> {
  const handle = handleOf(client, input, { attached: false });
  const ended = await describeRun(client, handle.workflowId);
  if (!ended) return startOrder(client, type, input);
  const standing = await standingOf(client, ended);
  const refused = whyNotAgain(standing, input);
  if (refused) throw new RefusedError('order', handle.orderId, 'again', refused.reason, refused.undecided);
  const earlier = await sentEarlier(client, ended);
  const options = {
    ...orderStartOptions(type, { ...input, ...earlier }),
    // The data is about that run. A later run may have sent, too.
    ...startAfter(ended.runId),
    // The only exception from "every id is used once"; the check above allows it.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
  } as const;
  if (await startUnlessTaken<OrderWorkflow>(client, workflowTypeOf(type), options, unanswered(input))) {
    await refuseOtherInput(client, type, input, { unanswered: unanswered(input) });
    return handle;
  }
  throw new RefusedError('order', handle.orderId, 'again', 'somebody else started it again', true);
}
