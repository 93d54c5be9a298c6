import type { OrderInput, OrderResult } from '../contract/orders.js';
import { awaitFinal } from './steps/await-final.js';
import { compensate } from './steps/compensate.js';
import { createOrder } from './steps/create-order.js';
import { runOrder } from './steps/run-order.js';

/** Exchanges from the balance and pays the result out. Money moves the moment the order is created. */
export function exchangeWithdraw(input: OrderInput<'exchange_withdraw'>): Promise<OrderResult> {
  return runOrder('exchange_withdraw', input, async (run) => {
    await createOrder(run);
    await awaitFinal(run);
    return compensate(run);
  });
}
