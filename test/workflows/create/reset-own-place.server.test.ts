import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { resetTo, resettableEvents, resultOf, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

vi.setConfig({ testTimeout: 290_000 });

const SETTLE_MS = 2_500;

test('paid at the place that a person approved, reset to before that, worker back at the first: not absent, and not sent there', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  lab.sandbox.set({ faults: { 'create.500-before': 1 } });
  await workAt(PLACES.first);
  const input = orderInput('withdraw', newOrderId('approved'), { resend: 'never', marker: 'callback=drop' });
  const handle = await lab.orders.start('withdraw', input);
  await parkedFor(handle, 'the service shows no such order');
  lab.sandbox.set({ faults: {} });
  const run = await runOf(lab, handle);
  const asking = (await resettableEvents(lab, run)).at(-1) ?? '';
  // The base URL moves, a person confirms it, and has the order sent there.
  await workAt(PLACES.otherPath);
  await decideNow(handle, 'resend');
  await attentionSays(handle, /After an approval only/);
  await decideNow(handle, 'approve');
  await parkedFor(handle, 'the service shows no such order');
  await decideNow(handle, 'resend');
  expect((await handle.result()).outcome).toBe('completed');
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([0, 1]);
  // Reset to the first question, with the worker back at the first place.
  await lab.stopWorkers();
  const cut = await resetTo(lab, run, asking, WITHOUT_UPDATES);
  const cutOpen = async () =>
    (await lab.temporal.client.workflow.getHandle(cut.workflowId, cut.runId).describe()).status.name === 'RUNNING';
  await workAt(PLACES.first);
  await parkedFor(handle, 'the service shows no such order');
  await decideNow(handle, 'close-absent');
  const later = async (until: () => Promise<boolean>) => {
    for (let n = 0; n < 90 && !(await until()); n += 1) {
      await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(`a-later-order-${n}`)));
      await sleep(1_000);
    }
  };
  await later(async () => !(await cutOpen()));
  const end = await resultOf(lab, cut).catch((error: { cause?: { type?: string; message: string } }) => error.cause);
  if ((end as { type?: string }).type === 'OrderAbsent') {
    await lab.orders.start(
      'withdraw',
      orderInput('withdraw', handle.orderId, { resend: 'never', marker: 'callback=drop' }),
      { again: true },
    );
    await later(async () => executedAtBoth(accounts, handle.orderId)[0] === 1);
  }
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([0, 1]);
  expect(end).toMatchObject({ type: 'OrderUnresolved' });
});
