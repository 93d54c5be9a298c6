import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { pinOfConfig } from '../../../src/config/accounts.js';
import { Secret } from '../../../src/config.js';
import { createTaskQueue, DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import { digestOfJson, publishingIdentity } from '../../../src/temporal/published.js';
import { resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, newOrderId } from '../../support/lab.js';
import { timeOutCreate, untilUncertain } from '../../support/pending-activity.js';
import {
  attentionSays,
  executedAtBoth,
  openTwoAccounts,
  orderRequests,
  PLACES,
  type Place,
  type TwoAccounts,
} from './two-accounts.fixture.js';

const SETTLE_MS = 2_500;

/** Takes a create as a worker of that place does. */
function takeCreate({ lab, urlOf }: TwoAccounts, place: Place) {
  const [, account] = [...lab.config.accounts][0] ?? [];
  if (!account) throw new Error('no account');
  const { client, namespace } = lab.temporal;
  const { id } = pinOfConfig({ ...account, baseUrl: urlOf(place), apiKey: new Secret(place.apiKey) });
  const windows: [number, number, number] = [SETTLE_MS, SETTLE_MS, 0];
  return client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({
      namespace,
      taskQueue: { name: createTaskQueue(DEFAULT_ACCOUNT) },
      identity: publishingIdentity('dead', { windows, account: digestOfJson(id) }),
    }),
  );
}

/** An order that the first place accepted, reset to before its create; no worker runs. */
async function acceptedAndReset({ lab, workAt }: TwoAccounts) {
  await workAt(PLACES.first);
  const input = orderInput('withdraw', newOrderId('reset'), { marker: 'callback=drop after_ms=60000' });
  const handle = await lab.orders.start('withdraw', input);
  const { order_uuid } = await handle.created();
  const run = await runOf(lab, handle);
  await lab.stopWorkers();
  await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
  return { handle, order_uuid };
}

test('a create that was sent, and of which Temporal lost all that its worker wrote, is looked up at that account only', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, other, workAt } = accounts;
  await lab.startWorkers(accountWith(lab, { name: 'another' }));
  const input = orderInput('withdraw', newOrderId('taken'), { marker: 'duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await takeCreate(accounts, PLACES.first);
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
  await timeOutCreate(lab.temporal.client, lab.temporal.namespace, handle.workflowId);
  await untilUncertain(handle);

  await workAt(PLACES.otherKey);
  const { attention } = await attentionSays(handle, /was sent to another account/);
  expect(attention?.allowed).toEqual(['approve']);
  expect(orderRequests(other)).toEqual([]);

  await workAt(PLACES.first);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});

test('a create without permission, which a reset asked another account for, is no send to that account', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { other, workAt } = accounts;
  const { handle, order_uuid } = await acceptedAndReset(accounts);
  await workAt(PLACES.otherKey);
  await vi.waitUntil(() => other.requests().some(({ orderId }) => orderId === handle.orderId), { timeout: 60_000 });
  await untilUncertain(handle);

  await workAt(PLACES.first);
  expect(await handle.created({ timeoutMs: 90_000 })).toMatchObject({ order_uuid });
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});

test('a create that was sent, and answered by somebody who names no account, is looked up at its own account only', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, other, workAt } = accounts;
  await lab.startWorkers(accountWith(lab, { name: 'another' }));
  const input = orderInput('withdraw', newOrderId('junk'), { marker: 'duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  const { activityId } = await takeCreate(accounts, PLACES.first);
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
  const { client, namespace } = lab.temporal;
  await client.workflowService.respondActivityTaskCompletedById({
    ...{ namespace, workflowId: handle.workflowId, activityId },
    result: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{}') }] },
  });
  await workAt(PLACES.otherKey);
  await attentionSays(handle, /was sent to another account/);
  expect(orderRequests(other)).toEqual([]);
});

test('a create of a reset run, which cannot send and whose worker died at another account, is no send to it', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  const { handle, order_uuid } = await acceptedAndReset(accounts);
  await lab.startWorkers(accountWith(lab, { name: 'another' }));
  await takeCreate(accounts, PLACES.otherKey);
  await timeOutCreate(lab.temporal.client, lab.temporal.namespace, handle.workflowId);
  await untilUncertain(handle);
  await workAt(PLACES.first);
  expect(await handle.created({ timeoutMs: 90_000 })).toMatchObject({ order_uuid });
});
