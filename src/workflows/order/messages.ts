import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import {
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  ORDER_CALLBACK_SIGNAL,
  ORDER_STATE_QUERY,
} from '../../contract/names.js';
import type { CallbackHint, Decision, OrderState } from '../../contract/order/messages.js';
import type { Order } from '../../contract/order/order.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { REVERT_TARGET, refusal } from './decision.js';
import { orderState } from './show.js';
import type { OrderRun } from './state.js';

/** Shown by the Temporal UI beside the update. */
const DECIDE_DESCRIPTION = [
  'Decides a parked order: {"action", "by", "reason", "revision"} with the revision and one of the actions of orderState.',
  'adopt: "order_uuid", and "differences" [the fields in which it differs, exactly] where it is not like this payment.',
  'finish, revert: "kind" (unexchanged, unpaid) and "as" (exchange, exchange_withdraw, withdraw) where several ways are',
  `possible; "revertTo" ${REVERT_TARGET} for a refund; "wallet_details"`,
  '[{amount, wallet}] for a payout to several cards.',
].join(' ');

/** Waits for an order that a step provides; fails as the workflow does when none comes to exist. */
async function orderOrFailure(run: OrderRun, pick: () => Order | undefined): Promise<Order> {
  await condition(() => pick() !== undefined || run.failure !== undefined);
  const order = pick();
  if (order) return order;
  throw run.failure ?? ApplicationFailure.nonRetryable('the order ended without being created');
}

/** Sets all handlers of an order workflow. Called before the first await, so that no message is missed. */
export function setHandlers(run: OrderRun): void {
  setHandler(
    defineSignal<[CallbackHint?]>(ORDER_CALLBACK_SIGNAL),
    // The argument is a claim of whoever knew the URL. It is not even looked at: only the signed look-up counts.
    () => {
      run.callbackPending = true;
    },
    { description: 'Something may have changed: look the order up now. The argument is ignored.' },
  );
  setHandler(defineQuery<OrderState>(ORDER_STATE_QUERY), () => orderState(run), {
    description: 'Phase, revision, status, order, attention with the actions that may be decided, last look-up.',
  });
  setHandler(defineUpdate<Order>(CREATED_UPDATE), () => orderOrFailure(run, () => run.order), {
    description: 'Waits until the order exists at the service and returns it (deposit address or URL included).',
  });
  setHandler(defineUpdate<Order>(FINAL_UPDATE), () => orderOrFailure(run, () => run.finalOrder), {
    description: 'Waits for the first final status and returns the order, before compensation.',
  });
  setHandler(
    defineUpdate<OrderState, [Decision]>(DECIDE_UPDATE),
    (decision) => {
      run.decision = withoutNulls(decision);
      return orderState(run);
    },
    {
      description: DECIDE_DESCRIPTION,
      // Synchronous on purpose: an async validator would never refuse.
      validator: (decision) => {
        const reason = refusal(run, withoutNulls(decision));
        if (reason) throw ApplicationFailure.nonRetryable(reason, 'DecisionRefused');
      },
    },
  );
}
