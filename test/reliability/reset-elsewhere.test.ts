import { expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { decideNow, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { openTwoAccounts, PLACES } from '../workflows/create/two-accounts.fixture.js';
import { resetTo, resettableEvents, runOf } from './reset.fixture.js';

/** A run cut from one that may have a create on its way counts absence only after that one's 60 s. */
const PARKED_WITHIN_MS = 90_000;

/** Executed, not shown for a moment, and reset to before its create while the worker gets another account's key. */
async function cutOff() {
  const accounts = await openTwoAccounts(1_000);
  const { lab, workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('cut'), { marker: 'create=500 lag_ms=1500 duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
  const run = await runOf(lab, handle);
  const [first = ''] = await resettableEvents(lab, run);
  await resetTo(lab, run, first);
  await workAt(PLACES.otherKey);
  await parkedFor(handle, 'where its create went is not known', PARKED_WITHIN_MS);
  return { ...accounts, handle };
}

test('a run cut off before the send does not know where that went: absence elsewhere is no leave to send there', async () => {
  const { lab, other, workAt, handle } = await cutOff();
  expect(other.stats().createsByOrderId).toEqual({});
  await workAt(PLACES.first);
  await decideNow(handle, 'resend');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1);
});
