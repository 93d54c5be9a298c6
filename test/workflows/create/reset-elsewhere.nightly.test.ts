import { expect, test, vi } from 'vitest';
import { createTaskQueue, DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, newOrderId } from '../../support/lab.js';
import { pendingActivity } from '../../support/pending-activity.js';
import { parkedFor } from '../compensation/parked-orders.fixture.js';
import { executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

vi.setConfig({ testTimeout: 175_000 });

test('a run that is cut from a run that sent after a timed-out attempt, with another key: a person is told that the place is unknown', async () => {
  const accounts = await openTwoAccounts(1_000);
  const { lab, workAt } = accounts;
  await lab.startWorkers(accountWith(lab, { name: 'other' }));
  const marker = 'create=500 duplicate=c callback=drop';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('place-of-it'), { marker }));
  const { client, namespace } = lab.temporal;
  const { workflowId } = handle;
  const id = await pendingActivity(client, workflowId, 'createOrder');
  // Only to make the test short: the attempt of a worker that dies before it sends times out after 3 s.
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId },
    id,
    activityOptions: { startToCloseTimeout: { seconds: 3 as never } },
    updateMask: { paths: ['start_to_close_timeout'] },
  });
  const taskQueue = { name: createTaskQueue(DEFAULT_ACCOUNT) };
  await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: 'dies' }),
  );
  await vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 30_000, interval: 100 });
  const run = await runOf(lab, handle);
  const doubted = (await resettableEvents(lab, run)).at(-1) ?? '';
  await workAt(PLACES.first);
  await parkedFor(handle, 'no order that it accepted later');
  await (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('accepted-later')))).created();
  await vi.waitUntil(() => executedAtBoth(accounts, handle.orderId)[0] === 1, { timeout: 30_000, interval: 20 });
  await resetTo(lab, run, doubted, WITHOUT_UPDATES);
  await workAt(PLACES.otherKey);
  const { attention } = await parkedFor(handle, '', 100_000);
  expect(attention?.reason).toMatch(/where .* is not known|account/);
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});
