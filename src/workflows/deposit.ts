import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import { compensate } from './compensation/compensate.js';
import { createOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { runOrder } from './order/frame.js';

/** Waits for a client's deposit and credits it to the balance. Nothing moves at create. */
export function deposit(input: OrderInput<'deposit'>): Promise<OrderResult> {
  return runOrder('deposit', input, async (run) => {
    await createOrder(run);
    return compensate(run, await awaitFinal(run));
  });
}
