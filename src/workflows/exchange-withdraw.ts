import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import { compensate } from './compensation/compensate.js';
import { createOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { runOrder } from './order/frame.js';

/** Exchanges from the balance and pays the result out. Money moves the moment the order is created. */
export function exchangeWithdraw(input: OrderInput<'exchange_withdraw'>): Promise<OrderResult> {
  return runOrder('exchange_withdraw', input, async (run) => {
    await createOrder(run);
    return compensate(run, await awaitFinal(run));
  });
}
