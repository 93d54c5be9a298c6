import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, orderRequests, PLACES } from './two-accounts.fixture.js';

const SETTLE_MS = 2_500;

test('refused at one account, executed there later, and started again where the worker has another key', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS);
  const marker = 'create=400-later later_ms=9000';
  const input = orderInput('withdraw', newOrderId('again'), { marker });
  await workAt(PLACES.first);
  const refused = await lab.orders.start('withdraw', input);
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await workAt(PLACES.otherKey);
  const handle = await lab.orders.start('withdraw', input, { again: true });
  await sleep(SETTLE_MS + 6_000);
  expect(other.stats().createsByOrderId).toEqual({});
  await attentionSays(handle, /Set base URL and key of account default back/);
  expect(orderRequests(other)).toEqual([]);
  await workAt(PLACES.first);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.sandbox.stats().executedByOrderId).toEqual({ [handle.orderId]: 1 });
});

test('refused at the wrong account: a person says that nothing came of it there, and it is sent at the right one', async () => {
  const { lab, other, workAt } = await openTwoAccounts(1_000);
  const input = orderInput('withdraw', newOrderId('wrong'), { marker: 'create=400' });
  await workAt(PLACES.first);
  const refused = await lab.orders.start('withdraw', input);
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await workAt(PLACES.otherPath);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', refused.orderId), { again: true });
  const { attention } = await attentionSays(handle, /or if nothing came of the order at the other one/);
  expect(attention?.allowed).toEqual(['approve']);
  expect(orderRequests(other)).toEqual([]);
  await decideNow(handle, 'approve');
  await attentionSays(handle, /an earlier run .* may have sent it, and the service shows no such order/);
  await decideNow(handle, 'resend');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect(executedAtBoth({ lab, other }, handle.orderId)).toEqual([0, 1]);
});

test('refused at one account and executed all the same, while the worker comes back with another key', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS);
  const input = orderInput('withdraw', newOrderId('refused'), { marker: 'create=400-after lag_ms=1500' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
  lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  await lab.stopWorkers();
  lab.sandbox.set({ faults: {} });
  await workAt(PLACES.otherKey);
  await attentionSays(handle, /Set base URL and key of account default back/);
  expect(orderRequests(other)).toEqual([]);
  await workAt(PLACES.first);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
});
