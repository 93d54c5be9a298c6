import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
} from '@temporalio/workflow';
import { endsOrder } from '../../contract/failures.js';
import type { OrderInput, OrderResult, ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import type { OrderType } from '../../contract/order/types.js';
import { checkOrder, checkReceived } from '../identity.js';
import { setHandlers } from './messages.js';
import { currentDetails, enterDone } from './show.js';
import { type OrderRun, openReceivedRun, openRun } from './state.js';

/** What an order does, from its create to its result. */
type Steps = (run: OrderRun) => Promise<OrderResult>;

/** Runs an order: checks that workflow id and input belong together, then takes the steps of its type. */
export function runOrder(type: OrderType, input: OrderInput, follow: Steps): Promise<OrderResult> {
  return inFrame(openRun(type, input), (run) => {
    checkOrder(run);
    return follow(run);
  });
}

/** The same for an order that a receipt made, of which only the service's id is known. */
export function runReceived(input: ReceivedDepositInput, follow: Steps): Promise<OrderResult> {
  return inFrame(openReceivedRun(input), (run) => {
    checkReceived(run, input);
    return follow(run);
  });
}

/**
 * The frame of every order workflow: handlers first, then the steps of its type, then an end that leaves no caller
 * waiting. Cancelling the workflow never interrupts a step: the service knows no cancel, so the steps look at
 * `cancelRequested` where nothing has been sent yet and otherwise follow the order to its end.
 */
async function inFrame(run: OrderRun, steps: Steps): Promise<OrderResult> {
  setHandlers(run);
  CancellationScope.current().cancelRequested.catch(() => {
    run.cancelRequested = true;
  });
  return CancellationScope.nonCancellable(async () => {
    let result: OrderResult | undefined;
    try {
      setCurrentDetails(currentDetails(run));
      result = await steps(run);
      enterDone(run, result.outcome, run.attention);
    } catch (error) {
      // Only a failure that says "no order of ours exists", or that a person closed it, ends an order. Anything else is a
      // bug: as a plain error it keeps the workflow open, failing its task until the bug is mended.
      if (!(error instanceof ApplicationFailure) || !endsOrder(error.type)) throw new Error(`bug: ${String(error)}`);
      run.failure = error;
    }
    await condition(allHandlersFinished);
    if (result) return result;
    throw run.failure;
  });
}
