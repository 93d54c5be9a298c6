import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { DepositAddressResult } from '../../src/contract/address/address.js';
import { addressWorkflowId, DEPOSIT_ADDRESS_WORKFLOW, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import { resetTo, resettableEvents, runOf } from '../reliability/reset.fixture.js';
import { useGatedLab } from '../support/lab.js';

const lab = useGatedLab();

test('an address whose workflow is reset while its create is on the way is made once', async () => {
  let creates = 0;
  lab.gate.rule = async ({ path }) => {
    if (!path.endsWith('/deposit_address/create')) return undefined;
    creates += 1;
    // The first one reaches the service after the reset run has searched for it.
    if (creates === 1) await sleep(5_000);
    return undefined;
  };
  const workflowId = addressWorkflowId('default', 'reset');
  await lab.temporal.client.workflow.start(DEPOSIT_ADDRESS_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId,
    args: [{ ref: 'reset', address: { currency: 'usdt', network: 'tron' } }],
  });
  await vi.waitFor(() => expect(creates).toBe(1), 60_000);
  const run = await runOf(lab, { workflowId });
  await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
  const handle = lab.temporal.client.workflow.getHandle<() => Promise<DepositAddressResult>>(workflowId);
  const { adopted, others } = await handle.result();
  expect({ creates, adopted, others }).toEqual({ creates: 1, adopted: true, others: undefined });
  expect(lab.sandbox.addresses()).toHaveLength(1);
});
