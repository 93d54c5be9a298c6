import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

vi.setConfig({ testTimeout: 280_000 });

const SETTLE_MS = 2_500;

test('a person confirmed the account and closed the order as absent: started again, only a person has it sent', async () => {
  const accounts = await openTwoAccounts(SETTLE_MS);
  const { lab, workAt } = accounts;
  await workAt(PLACES.first);
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId('confirmed'), {
      marker: 'create=500 lag_ms=4000 callback=drop',
      resend: 'never',
    }),
  );
  await vi.waitFor(() => expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]), 60_000);
  lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  await workAt(PLACES.otherPath);
  await attentionSays(handle, /After an approval only/);
  await decideNow(handle, 'approve');
  await parkedFor(handle, 'the service shows no such order');
  const later = async (until: () => Promise<boolean>) => {
    for (let n = 0; n < 60 && !(await until()); n += 1) {
      await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(`a-later-order-${n}`)));
      await sleep(1_000);
    }
  };
  await decideNow(handle, 'close-absent');
  await later(async () => !(await handle.isOpen()));
  await handle.result({ timeoutMs: 20_000 }).catch((error: unknown) => error as { type?: string; message: string });
  const again = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', handle.orderId, { marker: 'callback=drop', resend: 'never' }),
    { again: true },
  );
  await later(
    async () => executedAtBoth(accounts, handle.orderId)[1] === 1 || (await again.state()).phase === 'parked',
  );
  expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
});
