import type { OrderResult } from '../contract/orders.js';
import type { ReceivedDepositInput } from '../contract/received.js';
import { awaitFinal } from './steps/await-final.js';
import { compensate } from './steps/compensate.js';
import { runReceived } from './steps/run-order.js';
import { takeReceived } from './steps/take-received.js';

/** Follows an order that nobody started: a receipt on a permanent deposit address made it. */
export function receivedDeposit(input: ReceivedDepositInput): Promise<OrderResult> {
  return runReceived(input, async (run) => {
    await takeReceived(run, input);
    await awaitFinal(run);
    return compensate(run);
  });
}
