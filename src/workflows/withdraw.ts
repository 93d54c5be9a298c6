import type { OrderInput, OrderResult } from '../contract/orders.js';
import { awaitFinal } from './steps/await-final.js';
import { compensate } from './steps/compensate.js';
import { createOrder } from './steps/create-order.js';
import { runOrder } from './steps/run-order.js';

/** Pays out from the balance to a wallet. Money moves the moment the order is created. */
export function withdraw(input: OrderInput<'withdraw'>): Promise<OrderResult> {
  return runOrder('withdraw', input, async (run) => {
    await createOrder(run);
    await awaitFinal(run);
    return compensate(run);
  });
}
