import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, test, vi } from 'vitest';
import { createTaskQueue, DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, type Lab, newOrderId, useLab } from '../../support/lab.js';

/* Creates that a worker took and was lost before it confirmed that it sends. */

const lab = useLab({ sandbox: { settings: { duplicateMode: 'c' } } });

/** Takes the create of a new order as a worker that is lost at once; its limit is a second. */
async function lost({ temporal: { client, namespace }, orders }: Lab, name: string) {
  await lab.replaceWorkers(accountWith(lab, { name: 'another' }));
  const handle = await orders.start('withdraw', orderInput('withdraw', newOrderId(name)));
  const taskQueue = { name: createTaskQueue(DEFAULT_ACCOUNT) };
  await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: 'lost' }),
  );
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId: handle.workflowId },
    type: 'createOrder',
    activityOptions: { startToCloseTimeout: msToTs('1 second') },
    updateMask: { paths: ['start_to_close_timeout'] },
  });
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('was lost before it could send'), {
    timeout: 60_000,
    interval: 100,
  });
  return handle;
}

test('the order goes on by itself, without a later order and without a person', async () => {
  const handle = await lost(lab, 'lost');
  await lab.replaceWorkers();
  const result = await handle.result({ timeoutMs: 30_000 });
  expect(result.outcome).toBe('completed');
  expect(result.decisions).toBeUndefined();
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1);
});

test('a cancelled order ends as cancelled', async () => {
  const handle = await lost(lab, 'lost-cancelled');
  await handle.cancel();
  await lab.replaceWorkers();
  await expect(handle.result({ timeoutMs: 60_000 })).rejects.toMatchObject({ kind: 'failed' });
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBeUndefined();
});

test('after a failover, which may have lost what the worker wrote, absence is proven first', async () => {
  const handle = await lost(lab, 'lost-forgotten');
  await lab.replaceWorkers({ ...lab.config, restoredAtMs: Date.now() - 2 * lab.config.pace.settleWindowMs.atOnce });
  await vi.waitUntil(async () => (await handle.state()).phase === 'uncertain', { timeout: 30_000, interval: 100 });
  expect((await handle.state()).waitingFor).toContain('Temporal was restored');
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBeUndefined();
});
