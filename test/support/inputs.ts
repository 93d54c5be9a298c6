import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../src/contract/order/types.js';

/** A valid create request of every type, in the sandbox's currencies; `marker` goes into the description. */
const REQUESTS = {
  deposit: { currency: 'usdt', network: 'tron', amount: '250' },
  deposit_exchange: { currency_from: 'usd', network_from: 'card', amount: '120.50', currency_to: 'btc' },
  deposit_exchange_withdraw: {
    currency_from: 'usd',
    network_from: 'card',
    amount: '100',
    currency_to: 'usdt',
    network_to: 'tron',
    wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
  },
  exchange: { currency_from: 'usd', currency_to: 'btc', amount: '200' },
  exchange_withdraw: {
    currency_from: 'usd',
    amount: '100',
    currency_to: 'usdt',
    network_to: 'tron',
    wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
  },
  withdraw: { currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' },
} as const;

/** Input of one order; `marker` steers the sandbox (see its README), `options` are ours (compensation, resend, …). */
export function orderInput<T extends OrderType>(
  type: T,
  orderId: string,
  { marker, ...options }: { marker?: string } & Omit<Partial<OrderInput<T>>, 'order'> = {},
): OrderInput<T> {
  const order = { ...REQUESTS[type], order_id: orderId, ...(marker && { description: `[sandbox ${marker}]` }) };
  return { order, ...options } as unknown as OrderInput<T>;
}
