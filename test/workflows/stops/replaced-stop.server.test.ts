import { expect, test, vi } from 'vitest';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { rogueAt } from '../../temporal/rogue.fixture.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 120_000 });

const ANN = { by: 'Ann Smith', reason: 'the bank called' };
const lab = useLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true });

test('a start without a key replaces no stop', async () => {
  await lab.orders.accounts.stop('default', ANN);
  const id = newOrderId('stopped');
  const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
  const isWaiting = async () => expect((await order.state()).waitingFor).toContain('stopped');
  await vi.waitFor(isWaiting, { timeout: 30_000 });
  const forged = await rogueAt(lab).client.workflow.start('accountStop', {
    workflowId: 'stop:default',
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ account: 'default' }],
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
  const isFailed = async () => expect((await forged.describe()).status.name).toBe('FAILED');
  await vi.waitFor(isFailed, { timeout: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw'))).toEqual([]);
  expect((await lab.orders.accounts.state('default')).stop).toMatchObject(ANN);
  expect(await lab.orders.accounts.stopped()).toMatchObject([{ account: 'default', ...ANN }]);
  await lab.orders.accounts.resume('default', ANN);
  expect((await order.result()).outcome).toBe('completed');
  expect(await lab.orders.accounts.stopped()).toEqual([]);
});
