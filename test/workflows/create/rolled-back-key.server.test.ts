import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

vi.setConfig({ testTimeout: 200_000 });

const SETTLE_MS = 8_000;
const ANN = { by: 'ann', reason: 'the key is rotated' };

/* The service lists orders per key (D101): two ledgers stand for the two keys of one merchant. */
test('a re-send goes out under the new key, gets 500, and the key is rolled back: it is not sent again', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, other, workAt } = accounts;
  const accept = async (name: string) =>
    (await (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(name)))).result()).outcome;
  await workAt(PLACES.first);
  await accept('before-the-order');
  await sleep(SETTLE_MS / 2 + 1_000);

  // The old key: 429, not executed.
  lab.sandbox.set({ faults: { 'create.429-before': 1 } });
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId('order'), { marker: 'duplicate=c lag_ms=4000 callback=drop' }),
  );
  await vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 60_000, interval: 50 });
  lab.sandbox.set({ faults: {} });
  await sleep(1_000 + 0.25 * SETTLE_MS);
  await accept('later-than-the-order');
  // An operator stops the account for the rotation, as its order waits for its re-send.
  await lab.orders.accounts.stop('default', ANN);
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('is stopped'), {
    timeout: 60_000,
    interval: 50,
  });
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([0, 0]);

  // The new key, which names the old one: the create is executed and answered 500, and look-ups fail.
  other.set({ faults: { 'create.500-after': 1 } });
  await workAt(PLACES.otherKey, PLACES.first);
  await lab.orders.accounts.resume('default', ANN);
  await vi.waitUntil(() => executedAtBoth(accounts, handle.orderId)[1] === 1, { timeout: 60_000, interval: 20 });
  other.set({ faults: { 'list.503': 1, 'status.503': 1, 'create.503-before': 1 } });
  await sleep(500);

  // The operator goes back as docs/running.md says: the old pair names the new one.
  await workAt(PLACES.first, PLACES.otherKey);
  await sleep(0.3 * SETTLE_MS);
  await accept('accepted-after-the-way-back');
  await sleep(2 * SETTLE_MS + 5_000);
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([0, 1]);
});

test('a deposit was created under the old key, no other order is known, and the new key lists its own orders', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  await workAt(PLACES.first);
  const handle = await lab.orders.start(
    'deposit',
    orderInput('deposit', newOrderId('deposit'), { marker: 'create=500-after duplicate=c lag_ms=4000 callback=drop' }),
  );
  await vi.waitUntil(() => executedAtBoth(accounts, handle.orderId)[0] === 1, { timeout: 60_000, interval: 20 });
  lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  await sleep(300);
  await workAt(PLACES.otherKey, PLACES.first);
  await (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('under-the-new-key')))).created();
  await sleep(2 * SETTLE_MS + 3_000);
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});
