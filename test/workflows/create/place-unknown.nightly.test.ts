import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES, type TwoAccounts } from './two-accounts.fixture.js';

/* Orders of which nobody knows at which account they may have been sent. */

const SETTLE_MS = 2_500;
const UNKNOWN = /where its create went is not known/;
const now = () => ({ sentUntil: new Date().toISOString() });
const wf = ({ lab }: TwoAccounts, id: string) => lab.temporal.client.workflow.getHandle(id);

/** Executed at the first, terminated in hand; the worker is at the other. */
async function unknownPlace(name: string) {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  await workAt(PLACES.first);
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId(name), { marker: 'create=no-answer' }),
  );
  await vi.waitFor(() => expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1), 60_000);
  await wf(accounts, handle.workflowId).terminate('by mistake');
  await workAt(PLACES.otherKey);
  return { accounts, id: handle.orderId };
}

test('cancelled where nobody knows where it was sent: is not said to be unsent', async () => {
  const { accounts, id } = await unknownPlace('unknown-1');
  const again = await accounts.lab.orders.start(
    'withdraw',
    { ...orderInput('withdraw', id), ...now() },
    { again: true },
  );
  await attentionSays(again, UNKNOWN);
  await again.cancel();
  const end = await again.result({ timeoutMs: 30_000 }).then(
    (r) => r,
    (e: unknown) => e,
  );
  expect((end as { type?: string }).type).not.toBe('OrderCancelled');
});

test('recovered by a run that read nothing, terminated, and started again elsewhere: a person is asked', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  await workAt(PLACES.first);
  const id = newOrderId('unknown-2');
  const input = orderInput('withdraw', id, { marker: 'after_ms=240000' });
  const first = await lab.orders.start('withdraw', input);
  await first.created();
  await wf(accounts, first.workflowId).terminate('stands for a lost Temporal');
  lab.sandbox.set({ faults: { 'status.500': 1 } });
  await lab.orders.reconcile({ recover: true });
  await workAt(PLACES.otherKey);
  lab.sandbox.set({ faults: {} });
  const follower = lab.orders.order(id);
  await attentionSays(follower, /Set base URL and key of account default back/);
  await wf(accounts, first.workflowId).terminate('it does not move');
  await lab.orders.start('withdraw', { ...orderInput('withdraw', id), ...now() }, { again: true });
  await sleep(SETTLE_MS + 10_000);
  expect(executedAtBoth(accounts, id)).toEqual([1, 0]);
});

/** Refused at the first; a person approved the other; its create there is of `marker`. */
async function approvedElsewhere(name: string, marker?: string) {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, other, workAt } = accounts;
  await workAt(PLACES.first);
  const refused = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId(name), { marker: 'create=400' }),
  );
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await workAt(PLACES.otherPath);
  const second = await lab.orders.start('withdraw', orderInput('withdraw', refused.orderId, marker ? { marker } : {}), {
    again: true,
  });
  await attentionSays(second, /if it exists at the other one, it is paid twice/);
  await decideNow(second, 'approve');
  await attentionSays(second, /an earlier run .* may have sent it, and the service shows no such order/);
  await decideNow(second, 'resend');
  await vi.waitFor(() => expect(other.stats().executedByOrderId[second.orderId]).toBe(1), 60_000);
  return { accounts, id: refused.orderId, second };
}

test('in hand at the place that a person approved, terminated, started again at the first: a person is asked', async () => {
  const { accounts, id, second } = await approvedElsewhere('unknown-3', 'create=no-answer');
  await wf(accounts, second.workflowId).terminate('by mistake');
  await accounts.workAt(PLACES.first);
  await accounts.lab.orders.start('withdraw', { ...orderInput('withdraw', id), ...now() }, { again: true });
  await sleep(SETTLE_MS + 10_000);
  expect(executedAtBoth(accounts, id)).toEqual([0, 1]);
});

test('its place is not known, a person has it sent here, and it is refused: it does not end as refused, nor is it started again', async () => {
  const { accounts, id } = await unknownPlace('unknown-6');
  const { lab } = accounts;
  const second = await lab.orders.start(
    'withdraw',
    { ...orderInput('withdraw', id, { marker: 'create=400' }), ...now() },
    { again: true },
  );
  await attentionSays(second, UNKNOWN);
  await decideNow(second, 'resend');
  await attentionSays(second, /refused the create .*where an earlier create went is not known/);
  await decideNow(second, 'close-absent');
  await expect(second.result()).rejects.toMatchObject({ kind: 'unresolved' });
  const third = lab.orders.start('withdraw', orderInput('withdraw', id), { again: true });
  await expect(third).rejects.toThrow('Never start it under another id');
  expect(executedAtBoth(accounts, id)).toEqual([1, 0]);
});

test('reset to before a person approved the place where it was executed, with the worker back at the first: a person is asked', async () => {
  const { accounts, id, second } = await approvedElsewhere('unknown-4');
  const { lab, workAt } = accounts;
  await second.result();
  await lab.stopWorkers();
  const [first = ''] = await resettableEvents(lab, await runOf(lab, second));
  await resetTo(lab, await runOf(lab, second), first, WITHOUT_UPDATES);
  await workAt(PLACES.first);
  await sleep(60_000 + 3 * SETTLE_MS + 12_000);
  expect(executedAtBoth(accounts, id)).toEqual([0, 1]);
});
