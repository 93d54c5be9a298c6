import { expect, test, vi } from 'vitest';
import { resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

/* Orders that were stopped and are started again where the worker has another account's key by now. */

const SETTLE_MS = 2_500;
const UNKNOWN = /where its create went is not known/;
const now = () => ({ sentUntil: new Date().toISOString() });

/** Executed at the first account, then reset to before its create while no worker runs. */
async function executedThenReset() {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('cut'), { marker: 'create=500 duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await vi.waitFor(() => expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1), 60_000);
  await lab.stopWorkers();
  const run = await runOf(lab, handle);
  const [first = ''] = await resettableEvents(lab, run);
  const cut = lab.temporal.client.workflow.getHandle(handle.workflowId, (await resetTo(lab, run, first)).runId);
  return { ...accounts, handle, cut };
}

type Accounts = Awaited<ReturnType<typeof executedThenReset>>;

async function waitsForPerson({ lab, other, handle }: Accounts) {
  const again = await lab.orders.start(
    'withdraw',
    { ...orderInput('withdraw', handle.orderId), ...now() },
    { again: true },
  );
  await attentionSays(again, UNKNOWN);
  const executed = executedAtBoth({ lab, other }, again.orderId);
  expect(executed, 'executed at the first and at the second account').toEqual([1, 0]);
}

test('a reset run that no worker took has no create of its own, and the one that it was cut from may have sent', async () => {
  const accounts = await executedThenReset();
  await accounts.cut.terminate('by mistake');
  await accounts.workAt(PLACES.otherKey);
  await waitsForPerson(accounts);
});

test('sent where a person had approved it, and not where it was refused before: it is found there, and not said to be elsewhere', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS);
  await workAt(PLACES.first);
  const input = orderInput('withdraw', newOrderId('wrong'), { marker: 'create=400' });
  const refused = await lab.orders.start('withdraw', input);
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await workAt(PLACES.otherPath);
  const plain = orderInput('withdraw', refused.orderId);
  const second = await lab.orders.start('withdraw', plain, { again: true });
  await attentionSays(second, /if it exists at the other one, it is paid twice/);
  await decideNow(second, 'approve');
  await attentionSays(second, /an earlier run .* may have sent it, and the service shows no such order/);
  await decideNow(second, 'resend');
  await vi.waitFor(() => expect(other.stats().executedByOrderId[second.orderId]).toBe(1), 60_000);
  await lab.temporal.client.workflow.getHandle(second.workflowId).terminate('by mistake');
  const third = await lab.orders.start('withdraw', { ...plain, ...now() }, { again: true });
  expect(await third.result()).toMatchObject({ outcome: 'completed', adopted: true });
  const executed = executedAtBoth({ lab, other }, third.orderId);
  expect(executed, 'executed at the first and at the second account').toEqual([0, 1]);
});
