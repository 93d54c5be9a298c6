import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { attentionSays, executedAtBoth, openTwoAccounts, orderRequests, PLACES } from './two-accounts.fixture.js';

const SETTLE_MS = 2_500;

test('sent before a restore that forgot it, and asked for at one account: another one proves nothing', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('forgotten-restored'));
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
  lab.sandbox.set({ visibilityLagMs: 86_400_000, visibilityLagRate: 1 });
  const restored = { restoredAtMs: Date.now() };
  await workAt(PLACES.first, undefined, restored);
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(orderRequests(lab.sandbox).length).toBeGreaterThan(1), 60_000);
  await workAt(PLACES.otherKey, undefined, restored);
  await attentionSays(handle, /but this worker uses .*: nothing is sent/, 150_000);
  lab.sandbox.set({ visibilityLagMs: 0 });
  await workAt(PLACES.first, undefined, restored);
  expect(await handle.result()).toMatchObject({ adopted: true });
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});
