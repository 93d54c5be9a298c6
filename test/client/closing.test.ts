import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { payout, useClient } from './client-fixture.js';
import { openLine } from './line.js';

const fixture = useClient();

/** Connects as a backend does. */
async function connectTo(address: string): Promise<PaymentOrders> {
  vi.stubEnv('TEMPORAL_ADDRESS', address);
  vi.stubEnv('TEMPORAL_NAMESPACE', fixture.namespace.namespace);
  return PaymentOrders.connect();
}
afterEach(() => vi.unstubAllEnvs());

/** Longer than the SDK waits between two attempts: what it does on a closed channel nobody can catch but the process. */
const LAST_ATTEMPT_MS = 7_000;

const closed = { name: 'TemporalUnreachableError', message: expect.stringContaining('was closed by `close`') };

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

const settled = (calls: Promise<unknown>[]) =>
  Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(closed)));

describe('close', () => {
  it('ends calls made in the same tick', async () => {
    const orders = await connectTo(fixture.namespace.address);
    const ended = settled(everyCall(orders, 'tick-1'));
    await orders.close();
    await ended;
  });

  it('ends calls that wait for Temporal, and refuses later ones', async () => {
    const orders = await connectTo(fixture.namespace.address);
    const handle = await orders.start('withdraw', payout('waits-1', 'never-created'));
    const ended = settled([handle.result(), handle.created(), handle.result({ timeoutMs: 60_000 })]);
    await sleep(500);
    await orders.close();
    await ended;
    await settled(everyCall(orders, 'waits-2'));
    expect(await fixture.orders.order('waits-1').isOpen()).toBe(true);
  });

  it('ends calls that are repeated because Temporal is away', async () => {
    const line = await openLine(fixture.namespace.address);
    const orders = await connectTo(line.address);
    await line.cut();
    const ended = settled(everyCall(orders, 'away-1'));
    await sleep(1_000);
    await orders.close();
    await sleep(LAST_ATTEMPT_MS);
    await ended;
  });
});
