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

/** The order a callback is about. */
export type OrderTarget = Extract<CallbackTarget, { kind: 'order' }>;

/**
 * 'delivered': Temporal has stored the signal. 'closed', 'unknown': the order has ended, or Temporal
 * has no such order, and a look-up after its end was started. 'limited': too many callbacks.
 */
export type SignalResult = 'delivered' | 'closed' | 'unknown' | 'limited';

/** Hands a callback to an order; `repeated`: its history's length decides. Rejects if not taken. */
export type SignalOrder = (
  target: OrderTarget,
  hint: CallbackHint,
  repeated: boolean,
  mayLookUp: () => boolean,
) => Promise<SignalResult>;

/** Pause between two signals of an order that has had many callbacks. */
export const SIGNAL_INTERVAL_MS = 10 * 60_000;

/** Longest history of a young order to which repeated callbacks are added, at whichever receiver; a plain order has 26 events. */
export const MAX_CALLBACK_EVENTS = 500;

/** Events of a signal and of the workflow task that reads it. */
const EVENTS_PER_SIGNAL = 4;

/** Returns true for an open order whose history is as long as callbacks may make it at its age. */
async function isLong(handle: WorkflowHandle): Promise<boolean> {
  const { status, historyLength, startTime } = await handle.describe();
  const intervals = (Date.now() - startTime.getTime()) / SIGNAL_INTERVAL_MS;
  return status.name === 'RUNNING' && historyLength > MAX_CALLBACK_EVENTS + EVENTS_PER_SIGNAL * intervals;
}

/** Temporal's time for all calls about one callback; leaves 500 ms of the 2 s in which it is answered. */
const DEADLINE_MS = 1_500;

/** Temporal answers "not found" both for an order that ended and for one it never had or no longer keeps. */
async function whyNotFound(handle: WorkflowHandle): Promise<SignalResult> {
  try {
    const { status } = await handle.describe();
    // Started again between the two calls: this run has not been signalled, so the service must call back again.
    if (status.name === 'RUNNING') throw new Error('the order was started between signal and describe');
    return 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

/** Signals the run of a workflow id, where there is an open one. */
export async function signalIfKnown(
  handle: WorkflowHandle,
  hint: CallbackHint,
  repeated: boolean,
): Promise<SignalResult> {
  try {
    if (repeated && (await isLong(handle))) return 'limited';
    await handle.signal(ORDER_CALLBACK_SIGNAL, hint);
    return 'delivered';
  } catch (error) {
    // A missing namespace is an error of another class and stays one.
    if (error instanceof WorkflowNotFoundError) return whyNotFound(handle);
    throw error;
  }
}

/** Runs calls to Temporal within 1.5 s, or not at all as far as the caller knows. */
export async function inTime<T>(client: Client, calls: () => Promise<T>): Promise<T> {
  // The gRPC deadline ends the calls, but not the client's pauses between its retries, which grow beyond 1 s.
  const tooLate = sleep(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer from Temporal within ${DEADLINE_MS} ms`);
  });
  return Promise.race([client.withDeadline(Date.now() + DEADLINE_MS, calls), tooLate]);
}

/** Signals orders through Temporal, and has those that have ended looked up. Starts no order. */
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

/** The permanent address that a callback's token is of. */
export type ReceivedTarget = Extract<CallbackTarget, { kind: 'address' }>;

/** What the callback claims; `order_uuid` names the order that a receipt made. */
export type ReceivedHint = CallbackHint & { order_uuid: string };

/** 'delivered': Temporal has stored the signal. 'crowded': a start was needed and not allowed. */
export type ReceivedResult = Exclude<SignalResult, 'unknown'> | 'crowded';

/** Hands a callback to a receipt's follower; starts it, or a look-up after its end, if `mayStart`. */
export type SignalReceived = (
  target: ReceivedTarget,
  hint: ReceivedHint,
  mayStart: () => boolean,
  repeated: boolean,
) => Promise<ReceivedResult>;

/** Signals followers; starts those that are unknown or ended without an order; looks up the others. */
export function createSignalReceived(client: Client): SignalReceived {
  return ({ account, ref }, hint, mayStart, repeated) =>
    inTime(client, async () => {
      const handle = client.workflow.getHandle(receivedWorkflowId(account, hint.order_uuid));
      const result = await signalIfKnown(handle, hint, repeated);
      if (result === 'delivered' || result === 'limited') return result;
      if (!mayStart()) return 'crowded';
      try {
        // A policy is not for a callback to choose: the compensation table's default holds.
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
