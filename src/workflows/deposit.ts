import type { OrderInput, OrderResult } from '../contract/orders.js';
import { awaitFinal } from './steps/await-final.js';
import { compensate } from './steps/compensate.js';
import { createOrder } from './steps/create-order.js';
import { runOrder } from './steps/run-order.js';

/** Waits for a client's deposit and credits it to the balance. Nothing moves at create. */
export function deposit(input: OrderInput<'deposit'>): Promise<OrderResult> {
  return runOrder('deposit', input, async (run) => {
    await createOrder(run);
    await awaitFinal(run);
    return compensate(run);
  });
}
