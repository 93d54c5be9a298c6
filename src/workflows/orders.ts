import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import type { OrderType } from '../contract/order/types.js';
import type { Order } from '../contract/service-objects.js';
import { compensate } from './compensation/compensate.js';
import { leaveLine } from './create/await-funds.js';
import { createOrder } from './create/create-order.js';
import { awaitFinal } from './follow/await-final.js';
import { runOrder } from './order/frame.js';

/** The process of every order type: create, follow to the final status, compensate what is left. */
const processOf =
  <T extends OrderType>(type: T) =>
  (input: OrderInput<T>): Promise<OrderResult> =>
    runOrder(type, input, async (run) => {
      let final: Order;
      try {
        await createOrder(run);
        final = await awaitFinal(run);
      } finally {
        await leaveLine(run);
      }
      return compensate(run, final);
    });

/** Waits for a client's deposit and credits it to the balance. Nothing moves at create. */
export const deposit = processOf('deposit');

/** Waits for a client's deposit and exchanges it. Nothing moves at create. */
export const depositExchange = processOf('deposit_exchange');

/** Waits for a client's deposit, exchanges it and pays it out. Nothing moves at create. */
export const depositExchangeWithdraw = processOf('deposit_exchange_withdraw');

/** Exchanges from one balance to another. Money moves when the order is created. */
export const exchange = processOf('exchange');

/** Exchanges from the balance and pays the result out. Money moves when the order is created. */
export const exchangeWithdraw = processOf('exchange_withdraw');

/** Pays out from the balance to a wallet. Money moves when the order is created. */
export const withdraw = processOf('withdraw');
