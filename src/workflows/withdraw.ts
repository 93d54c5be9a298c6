import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import { compensate } from './compensation/compensate.js';
import { createOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { runOrder } from './order/frame.js';

/** Pays out from the balance to a wallet. Money moves the moment the order is created. */
export function withdraw(input: OrderInput<'withdraw'>): Promise<OrderResult> {
  return runOrder('withdraw', input, async (run) => {
    await createOrder(run);
    return compensate(run, await awaitFinal(run));
  });
}
