import type { OrderResult, ReceivedDepositInput } from '../contract/order/input-and-result.js';
import { compensate } from './compensation/compensate.js';
import { takeOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { findReceived } from './follow/find-order.js';
import { runReceived } from './order/frame.js';

/** Follows an order that nobody started: a receipt on a permanent deposit address made it. */
export function receivedDeposit(input: ReceivedDepositInput): Promise<OrderResult> {
  return runReceived(input, async (run) => {
    takeOrder(run, await findReceived(run, input));
    return compensate(run, await awaitFinal(run));
  });
}
