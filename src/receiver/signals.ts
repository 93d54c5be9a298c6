import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { lookUpAfterEnd, type ReceivedWorkflow, receivedStartOptions } from '../client/start-options.js';
import type { CallbackTarget } from '../contract/callback-url.js';
import {
  ORDER_CALLBACK_SIGNAL,
  orderWorkflowId,
  RECEIVED_DEPOSIT_WORKFLOW,
  receivedWorkflowId,
} from '../contract/names.js';
import type { CallbackHint } from '../contract/order/messages.js';

/** Order of a callback. */
export type OrderTarget = Extract<CallbackTarget, { kind: 'order' }>;

/**
 * 'delivered': Temporal has stored the signal. 'closed', 'unknown': no open run, and a look-up
 * after the end was started. 'limited': too many callbacks.
 */
export type SignalResult = 'delivered' | 'closed' | 'unknown' | 'limited';

/**
 * Signals an order. `repeated`: also checks its history's length. Rejects if Temporal did not take
 * it.
 */
export type SignalOrder = (
  target: OrderTarget,
  hint: CallbackHint,
  repeated: boolean,
  mayLookUp: () => boolean,
) => Promise<SignalResult>;

/** Interval between signals of an order after its burst. */
export const SIGNAL_INTERVAL_MS = 10 * 60_000;

/** Maximum history of a young order for repeated callbacks. A plain order has 26 events. */
export const MAX_CALLBACK_EVENTS = 500;

/** Events of a signal and its workflow task. */
const EVENTS_PER_SIGNAL = 4;

/** Returns true for an open order with the maximum history for its age. */
async function isLong(handle: WorkflowHandle): Promise<boolean> {
  const { status, historyLength, startTime } = await handle.describe();
  const intervals = (Date.now() - startTime.getTime()) / SIGNAL_INTERVAL_MS;
  return status.name === 'RUNNING' && historyLength > MAX_CALLBACK_EVENTS + EVENTS_PER_SIGNAL * intervals;
}

/** Maximum time for Temporal per callback, 500 ms below the answer's 2 s. */
const DEADLINE_MS = 1_500;

/** Temporal answers "not found" for ended, unknown and deleted orders. */
async function whyNotFound(handle: WorkflowHandle): Promise<SignalResult> {
  try {
    const { status } = await handle.describe();
    // It was started between both calls and has no signal yet, so the service must call back again.
    if (status.name === 'RUNNING') throw new Error('the order was started between signal and describe');
    return 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

/** Signals the open run of a workflow id, if there is one. */
async function signalIfKnown(handle: WorkflowHandle, hint: CallbackHint, repeated: boolean): Promise<SignalResult> {
  try {
    if (repeated && (await isLong(handle))) return 'limited';
    await handle.signal(ORDER_CALLBACK_SIGNAL, hint);
    return 'delivered';
  } catch (error) {
    // A missing namespace is another class of error.
    if (error instanceof WorkflowNotFoundError) return whyNotFound(handle);
    throw error;
  }
}

/** Runs calls to Temporal and rejects after 1.5 s. */
async function inTime<T>(client: Client, calls: () => Promise<T>): Promise<T> {
  // The gRPC deadline does not end the client's pauses between retries.
  const tooLate = sleep(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer from Temporal within ${DEADLINE_MS} ms`);
  });
  return Promise.race([client.withDeadline(Date.now() + DEADLINE_MS, calls), tooLate]);
}

/** Returns the function that signals orders, and starts look-ups of ended ones. Starts no order. */
export function createSignalOrder(client: Client): SignalOrder {
  return ({ account, orderId }, hint, repeated, mayLookUp) =>
    inTime(client, async () => {
      const handle = client.workflow.getHandle(orderWorkflowId(account, orderId));
      const result = await signalIfKnown(handle, hint, repeated);
      if (result === 'delivered' || result === 'limited') return result;
      if (!mayLookUp()) return 'limited';
      await lookUpAfterEnd(client, handle.workflowId, hint);
      return result;
    });
}

/** Permanent address of a callback's token. */
export type ReceivedTarget = Extract<CallbackTarget, { kind: 'address' }>;

/** Claims of a callback. `order_uuid` names the receipt's order. */
export type ReceivedHint = CallbackHint & { order_uuid: string };

/** 'delivered': Temporal has stored the signal. 'crowded': a start was needed and not allowed. */
export type ReceivedResult = Exclude<SignalResult, 'unknown'> | 'crowded';

/** Signals a receipt's follower, or starts it or a look-up after its end if `mayStart`. */
export type SignalReceived = (
  target: ReceivedTarget,
  hint: ReceivedHint,
  mayStart: () => boolean,
  repeated: boolean,
) => Promise<ReceivedResult>;

/** Returns the function that signals followers, starts unknown ones, and looks up ended ones. */
export function createSignalReceived(client: Client): SignalReceived {
  return ({ account, ref }, hint, mayStart, repeated) =>
    inTime(client, async () => {
      const handle = client.workflow.getHandle(receivedWorkflowId(account, hint.order_uuid));
      const result = await signalIfKnown(handle, hint, repeated);
      if (result === 'delivered' || result === 'limited') return result;
      if (!mayStart()) return 'crowded';
      try {
        // A callback must not choose a policy, so the default applies.
        await client.workflow.signalWithStart<ReceivedWorkflow, [CallbackHint]>(RECEIVED_DEPOSIT_WORKFLOW, {
          ...receivedStartOptions({ account, ref, order_uuid: hint.order_uuid }),
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          signal: ORDER_CALLBACK_SIGNAL,
          signalArgs: [hint],
        });
        return 'delivered';
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await lookUpAfterEnd(client, handle.workflowId, hint);
        return 'closed';
      }
    });
}
