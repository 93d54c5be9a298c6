import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { acceptLater, attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

const SETTLE_MS = 2_500;

test('refused at one account and executed there later; the run that was told so waits at the other one, is terminated and started again', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS);
  const input = orderInput('withdraw', newOrderId('told'), { marker: 'create=400-later later_ms=12000' });
  await workAt(PLACES.first);
  const refused = await lab.orders.start('withdraw', input);
  await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await workAt(PLACES.otherKey);
  const waiting = await lab.orders.start('withdraw', input, { again: true });
  await attentionSays(waiting, /Set base URL and key of account default back/);
  await lab.temporal.client.workflow.getHandle(waiting.workflowId).terminate('it does not move');
  // Without the marker, which is the sandbox's: the other account simply executes it.
  const third = await lab.orders.start(
    'withdraw',
    { ...orderInput('withdraw', waiting.orderId), sentUntil: new Date().toISOString() },
    { again: true },
  );
  await sleep(SETTLE_MS + 14_000);
  const executed = executedAtBoth({ lab, other }, third.orderId);
  expect(executed, 'executed at the first and at the second account').toEqual([1, 0]);
});

test('terminated while its create was in hand, so that nobody knows where it went: a person alone has it sent at the account of now', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS);
  const input = orderInput('withdraw', newOrderId('in-hand'), { marker: 'create=no-answer' });
  await workAt(PLACES.first);
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
  await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
  await workAt(PLACES.otherKey);
  const plain = { ...orderInput('withdraw', handle.orderId), sentUntil: new Date().toISOString() };
  const again = await lab.orders.start('withdraw', plain, { again: true });
  await attentionSays(again, /where its create went is not known: make sure that this is the account/);
  expect(other.stats().createsByOrderId).toEqual({});
  // That it is for a person to say does not end with the next stop.
  await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake, again');
  const third = await lab.orders.start('withdraw', plain, { again: true });
  await attentionSays(third, /where its create went is not known/);
  expect(other.stats().createsByOrderId).toEqual({});
  // An order that this account accepted later proves nothing about the other one.
  const later = await acceptLater({ lab }, 'in-hand');
  await attentionSays(third, /where its create went is not known/);
  expect(other.stats().createsByOrderId).toEqual({ [later]: 1 });
  await decideNow(third, 'resend');
  expect(await third.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect(other.stats().executedByOrderId).toEqual({ [later]: 1, [handle.orderId]: 1 });
});
