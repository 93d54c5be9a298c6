import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testPaymentOrders } from '../../src/testing.js';
import { orderInput } from '../support/inputs.js';

const { orders, ends, clear } = testPaymentOrders();

const HOUR_MS = 3_600_000;

beforeEach(() => {
  clear();
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => vi.useRealTimers());

const listed = async (needsAttention: boolean): Promise<string[]> =>
  (await orders.list({ needsAttention })).orders.map(({ orderId }) => orderId).toSorted();

async function endUndocumented(orderId: string): Promise<void> {
  ends(orderId, { outcome: 'canceled' });
  await (await orders.start('withdraw', orderInput('withdraw', orderId))).result();
}

test('an ended order leaves the list of attention after two days by itself, one that waits for a person does not', async () => {
  await endUndocumented('ended-1');
  ends('waits-1', { parked: 'uncertain-create' });
  await orders.start('withdraw', orderInput('withdraw', 'waits-1'));
  vi.setSystemTime(Date.now() + 47 * HOUR_MS);
  expect(await listed(true)).toEqual(['ended-1', 'waits-1']);
  expect(await listed(false)).toEqual([]);
  vi.setSystemTime(Date.now() + 2 * HOUR_MS);
  expect(await listed(true)).toEqual(['waits-1']);
  expect(await listed(false)).toEqual(['ended-1']);
  const [ended] = (await orders.list({ needsAttention: false })).orders;
  expect(ended).toMatchObject({ needsAttention: false, attention: { code: 'undocumented-end' } });
});

test('a cursor of the list of attention counts later, too', async () => {
  await endUndocumented('ended-1');
  await endUndocumented('ended-2');
  const { cursor = '' } = await orders.list({ needsAttention: true, limit: 1 });
  vi.setSystemTime(Date.now() + HOUR_MS);
  expect((await orders.list({ needsAttention: true, limit: 1, cursor })).orders).toHaveLength(1);
});
