import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { attentionSays, openTwoAccounts, orderRequests, PLACES } from './two-accounts.fixture.js';

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
