import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { OrderInput, OrderResult, OrderType } from '../../contract/orders.js';
import { checkIdentity } from './check-identity.js';
import { currentDetails } from './current-details.js';
import { setHandlers } from './handlers.js';
import { type OrderRun, openRun } from './order-run.js';
import { enterDone } from './phase.js';

/**
 * The frame of every order workflow: handlers first, then the steps of its type, then an end that leaves no caller
 * waiting. Cancelling the workflow never interrupts a step: the service knows no cancel, so the steps look at
 * `cancelRequested` where nothing has been sent yet and otherwise follow the order to its end.
 */
export async function runOrder(
  type: OrderType,
  input: OrderInput,
  follow: (run: OrderRun) => Promise<OrderResult>,
): Promise<OrderResult> {
  const run = openRun(type, input);
  setHandlers(run);
  CancellationScope.current().cancelRequested.catch(() => {
    run.cancelRequested = true;
  });
  return CancellationScope.nonCancellable(async () => {
    try {
      checkIdentity(run);
      setCurrentDetails(currentDetails(run));
      const result = await follow(run);
      enterDone(run, result.outcome, run.attention);
      return result;
    } catch (error) {
      // Only a failure that says "no order of ours exists" ends an order; anything else is a bug and must not.
      if (error instanceof ApplicationFailure) run.failure = error;
      throw error;
    } finally {
      await condition(allHandlersFinished);
    }
  });
}
