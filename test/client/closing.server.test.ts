import { afterEach, describe, expect, it, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient();

/** Connects as a backend does. */
async function connectTo(address: string): Promise<PaymentOrders> {
  vi.stubEnv('TEMPORAL_ADDRESS', address);
  vi.stubEnv('TEMPORAL_NAMESPACE', fixture.namespace.namespace);
  return PaymentOrders.connect();
}
afterEach(() => vi.unstubAllEnvs());

const everyCall = (orders: PaymentOrders, orderId: string): Promise<unknown>[] => [
  orders.create('withdraw', payout(`${orderId}-create`, 'never-created')),
  orders.create('withdraw', payout(`${orderId}-limited`, 'never-created'), { timeoutMs: 60_000 }),
  orders.start('withdraw', payout(`${orderId}-start`)),
  orders.order(orderId).result(),
  orders.order(orderId).result({ timeoutMs: 60_000 }),
  orders.order(orderId).created(),
  orders.order(orderId).state(),
  orders.list(),
  orders.balances(),
  orders.reconcile(),
];

describe('close', () => {
  it('leaves what was started alone, and every later call rejects', async () => {
    const orders = await connectTo(fixture.namespace.address);
    await orders.start('withdraw', payout('goes-on-1', 'never-created'));
    await orders.close();
    const later = await Promise.allSettled(everyCall(orders, 'later-1'));
    expect(later.map(({ status }) => status)).toEqual(later.map(() => 'rejected'));
    expect(await fixture.orders.order('goes-on-1').isOpen()).toBe(true);
  });
});
