import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { pendingActivity } from '../../support/pending-activity.js';
import { settings } from '../../support/simulated.js';
import { decideNow } from '../compensation/parked-orders.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

vi.setConfig({ testTimeout: 280_000 });

const SETTLE_MS = 2_500;

// On a server the history names the worker that had the create, whose identity names its account.
test.skipIf(!settings.isSimulated)(
  'nobody knows where it was sent first; the URL of the account in use moves, which a person confirms: it does not end as absent',
  async () => {
    const accounts = await openTwoAccounts(SETTLE_MS);
    const { lab, other, workAt } = accounts;
    lab.sandbox.set({ faults: { 'create.no-answer': 1 } });
    await workAt(PLACES.first);
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', newOrderId('forgotten'), { marker: 'callback=drop' }),
    );
    await vi.waitFor(() => expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]), 60_000);
    // As in place-forgotten.nightly: failed by its id, and refused where a person has it sent.
    const { client } = lab.temporal;
    const activityId = await pendingActivity(client, handle.workflowId, 'createOrder');
    lab.sandbox.set({ faults: { 'status.500': 1, 'list.500': 1 } });
    await client.activity.fail({ workflowId: handle.workflowId, activityId }, new Error('hangs'));
    await workAt(PLACES.otherKey);
    await attentionSays(handle, /where its create went is not known/, 150_000);
    other.set({ faults: { 'create.400': 1 } });
    await decideNow(handle, 'resend');
    await attentionSays(handle, /refused the create .*where an earlier create went is not known/);
    other.set({ faults: {} });
    // The base URL of this second account moves.
    await workAt(PLACES.otherBoth);
    await decideNow(handle, 'close-absent');
    await attentionSays(handle, /After an approval only/);
    await decideNow(handle, 'approve');
    for (let n = 0; n < 40 && (await handle.isOpen()); n += 1) {
      await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(`a-later-order-${n}`)));
      await sleep(1_000);
    }
    const end = await handle
      .result({ timeoutMs: 20_000 })
      .catch((error: unknown) => error as { type?: string; kind?: string; message: string });
    if ((end as { type?: string }).type === 'OrderAbsent') {
      await lab.orders.start('withdraw', orderInput('withdraw', handle.orderId, { marker: 'callback=drop' }), {
        again: true,
      });
      for (let n = 0; n < 50 && executedAtBoth(accounts, handle.orderId)[1] === 0; n += 1) {
        await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(`another-later-order-${n}`)));
        await sleep(1_000);
      }
    }
    expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
    expect(end).toMatchObject({ kind: 'unresolved' });
  },
);
