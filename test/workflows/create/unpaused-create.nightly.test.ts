import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { DepositAddressResult } from '../../../src/contract/address/address.js';
import { addressWorkflowId, DEPOSIT_ADDRESS_WORKFLOW, ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, useGatedLab } from '../../support/lab.js';
import { pendingActivity } from '../../support/pending-activity.js';
import { serviceView } from './service-view.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

/** The service shows an order only after this long, which is less than the settle window. */
const HIDDEN_MS = 15_000;
const WINDOW_MS = 20_000;

// A callback of the executed order would hold its second send back, too.
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});

/** A permanent address needs callbacks. */
const called = useGatedLab();

/** An operator ends the attempt under way and has the server make another one that looks like a first. */
async function endAndUnpause({ temporal }: Lab, workflowId: string, type: string): Promise<void> {
  const { client, namespace } = temporal;
  const id = await pendingActivity(client, workflowId, type);
  const target = { namespace, execution: { workflowId }, id, identity: 'operator' };
  const failure = { message: 'given up', applicationFailureInfo: { type: 'GivenUp' } };
  await client.workflowService.pauseActivity(target);
  await client.workflowService.respondActivityTaskFailedById({ ...target, workflowId, activityId: id, failure });
  await client.workflowService.unpauseActivity({ ...target, resetAttempts: true, resetHeartbeat: true });
}

test('a create that is paused, failed and unpaused with attempts and heartbeat reset sends nothing more: it is adopted', async () => {
  const orderId = newOrderId('unpaused');
  const marker = `create=no-answer duplicate=c lag_ms=${HIDDEN_MS}`;
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, resend: 'never' }));
  await vi.waitUntil(() => serviceView(lab, orderId).executed === 1, { timeout: 60_000, interval: 20 });
  await endAndUnpause(lab, handle.workflowId, 'createOrder');
  const { outcome, adopted } = await handle.result();
  const { creates, executed } = serviceView(lab, orderId);
  expect({ outcome, adopted, creates, executed }).toEqual({
    outcome: 'completed',
    adopted: true,
    creates: 1,
    executed: 1,
  });
});

test('so is the create of a permanent address', async () => {
  let creates = 0;
  called.gate.rule = async ({ path }) => {
    if (!path.endsWith('/deposit_address/create')) return undefined;
    creates += 1;
    // The first one reaches the service after the next attempt has searched for it.
    if (creates === 1) await sleep(8_000);
    return undefined;
  };
  const workflowId = addressWorkflowId('default', 'unpaused');
  const handle = await called.temporal.client.workflow.start<() => Promise<DepositAddressResult>>(
    DEPOSIT_ADDRESS_WORKFLOW,
    {
      taskQueue: ORDERS_TASK_QUEUE,
      workflowId,
      args: [{ ref: 'unpaused', address: { currency: 'usdt', network: 'tron' } }] as never,
    },
  );
  await vi.waitUntil(() => creates === 1, { timeout: 60_000, interval: 20 });
  await endAndUnpause(called, workflowId, 'createAddress');
  const { adopted, others } = await handle.result();
  expect({ creates, adopted, others }).toEqual({ creates: 1, adopted: true, others: undefined });
  expect(called.sandbox.addresses()).toHaveLength(1);
});
