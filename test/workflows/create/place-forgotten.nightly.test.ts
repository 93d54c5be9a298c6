import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { pendingActivity } from '../../support/pending-activity.js';
import { settings } from '../../support/simulated.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES, type TwoAccounts } from './two-accounts.fixture.js';

/* Orders whose own run lost sight of where it sent them. */

vi.setConfig({ testTimeout: 300_000 });

const SETTLE_MS = 2_500;
const UNKNOWN = /where its create went is not known/;
const REFUSED = /refused the create .*where an earlier create went is not known/;

/** Executed at the first account, without an answer. */
async function inHand(name: string) {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  lab.sandbox.set({ faults: { 'create.no-answer': 1 } });
  await workAt(PLACES.first);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(name)));
  await vi.waitFor(() => expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]), 60_000);
  return { accounts, handle };
}

/** A person has it sent at the other account, which refuses it; closed by a person, it is not started again. */
async function refusedAndAgain(accounts: TwoAccounts, handle: OrderHandle) {
  const { lab, other } = accounts;
  await attentionSays(handle, UNKNOWN, 150_000);
  other.set({ faults: { 'create.400': 1 } });
  await decideNow(handle, 'resend');
  await attentionSays(handle, REFUSED);
  await decideNow(handle, 'close-absent');
  await expect(handle.result()).rejects.toMatchObject({ kind: 'unresolved' });
  other.set({ faults: {} });
  const again = lab.orders.start('withdraw', orderInput('withdraw', handle.orderId), { again: true });
  await expect(again).rejects.toThrow('Never start it under another id');
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
}

describe.concurrent('where it was sent is forgotten by its own run', () => {
  // On a server the history names the worker that had the create, whose identity names its account.
  test.skipIf(!settings.isSimulated)(
    'failed by its id, sent elsewhere by a person, and refused there: it does not end as refused, nor is it started again',
    async () => {
      const { accounts, handle } = await inHand('forgotten');
      const { client } = accounts.lab.temporal;
      const activityId = await pendingActivity(client, handle.workflowId, 'createOrder');
      accounts.lab.sandbox.set({ faults: { 'status.500': 1, 'list.500': 1 } });
      await client.activity.fail({ workflowId: handle.workflowId, activityId }, new Error('hangs'));
      await accounts.workAt(PLACES.otherKey);
      await refusedAndAgain(accounts, handle);
    },
  );

  test('reset while it was in hand, the same', async () => {
    const { accounts, handle } = await inHand('forgotten-reset');
    const { lab, workAt } = accounts;
    const run = await runOf(lab, handle);
    const [first = ''] = await resettableEvents(lab, run);
    await lab.stopWorkers();
    await resetTo(lab, run, first, WITHOUT_UPDATES);
    await workAt(PLACES.otherKey);
    await refusedAndAgain(accounts, handle);
  });
});
