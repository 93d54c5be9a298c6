import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import { compensate } from './compensation/compensate.js';
import { createOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { runOrder } from './order/frame.js';

/** Waits for a client's deposit, exchanges it and pays it out. Nothing moves at create. */
export function depositExchangeWithdraw(input: OrderInput<'deposit_exchange_withdraw'>): Promise<OrderResult> {
  return runOrder('deposit_exchange_withdraw', input, async (run) => {
    await createOrder(run);
    return compensate(run, await awaitFinal(run));
  });
}
