import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type ReceivedWorkflow, receivedStartOptions } from '../client/received.js';
import type { CallbackTarget } from '../contract/callback-url.js';
import { receivedWorkflowId } from '../contract/ids.js';
import { ORDER_CALLBACK_SIGNAL, RECEIVED_DEPOSIT_WORKFLOW } from '../contract/names.js';
import type { CallbackHint } from '../contract/order/messages.js';
import { inTime, type SignalResult, signalIfKnown } from './signal-order.js';

/** The permanent address that a callback's token is of. */
export type ReceivedTarget = Extract<CallbackTarget, { kind: 'address' }>;

/** What the callback claims; `order_uuid` names the order that a receipt made. */
export type ReceivedHint = CallbackHint & { order_uuid: string };

/** 'delivered': Temporal has stored the signal, with a new run if need be. 'crowded': one was needed and not allowed. */
export type ReceivedResult = Exclude<SignalResult, 'unknown'> | 'crowded';

/** Tells the follower of a received order that a callback came; starts it if `mayStart`. Rejects as SignalOrder does. */
export type SignalReceived = (
  target: ReceivedTarget,
  hint: ReceivedHint,
  mayStart: () => boolean,
) => Promise<ReceivedResult>;

/** Signals followers through Temporal, and starts those that it does not know: once per order_uuid, whoever asks. */
export function createSignalReceived(client: Client): SignalReceived {
  return ({ account, ref }, hint, mayStart) =>
    inTime(client, async () => {
      const handle = client.workflow.getHandle(receivedWorkflowId(account, hint.order_uuid));
      const result = await signalIfKnown(handle, hint);
      if (result !== 'unknown') return result;
      if (!mayStart()) return 'crowded';
      try {
        // A policy is not for a callback to choose: the compensation table's default holds.
        await client.workflow.signalWithStart<ReceivedWorkflow, [CallbackHint]>(RECEIVED_DEPOSIT_WORKFLOW, {
          ...receivedStartOptions({ account, ref, order_uuid: hint.order_uuid }),
          signal: ORDER_CALLBACK_SIGNAL,
          signalArgs: [hint],
        });
        return 'delivered';
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return 'closed';
        throw error;
      }
    });
}
