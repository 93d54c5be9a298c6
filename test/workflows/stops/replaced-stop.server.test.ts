import { expect, test, vi } from 'vitest';
import { ORDERS_TASK_QUEUE, STOP_MEMO } from '../../../src/contract/names.js';
import { stopFindings } from '../../../src/preflight/temporal.js';
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

test.for<[what: string, taskQueue: string, type: string]>([
  ['that nobody takes', 'nobody', 'accountStop'],
  ['of ours, by another type', ORDERS_TASK_QUEUE, 'serviceRead'],
])(
  'a start without a key on a queue %s stops nothing, is told, and stop and resume work beside it',
  async ([, taskQueue, type]) => {
    const { client } = lab.temporal;
    const by = { by: 'nobody', reason: 'because', at: new Date().toISOString() };
    const forged = await rogueAt(lab).client.workflow.start(type, {
      ...{ workflowId: 'stop:default', taskQueue, args: [] },
      memo: { [STOP_MEMO]: by },
    });
    const pay = async () => (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('paid')))).result();
    expect((await pay()).outcome).toBe('completed');
    expect(await lab.orders.accounts.state('default')).toEqual({
      account: 'default',
      foreign: forged.firstExecutionRunId,
    });
    expect(await lab.orders.accounts.stopped()).toEqual([]);
    const told = await stopFindings(client, { accounts: new Map([['default', {}]]) } as never);
    expect(told).toMatchObject([{ check: 'stops', level: 'error', account: 'default' }]);

    await lab.orders.accounts.stop('default', ANN);
    expect((await lab.orders.accounts.state('default')).stop).toMatchObject(ANN);
    await lab.orders.accounts.resume('default', ANN);
    expect((await pay()).outcome).toBe('completed');
  },
);
