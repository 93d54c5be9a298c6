import type { OrderInput, OrderResult } from '../contract/orders.js';
import { awaitFinal } from './steps/await-final.js';
import { compensate } from './steps/compensate.js';
import { createOrder } from './steps/create-order.js';
import { runOrder } from './steps/run-order.js';

/** Exchanges from one balance to another. Money moves the moment the order is created. */
export function exchange(input: OrderInput<'exchange'>): Promise<OrderResult> {
  return runOrder('exchange', input, async (run) => {
    await createOrder(run);
    await awaitFinal(run);
    return compensate(run);
  });
}
