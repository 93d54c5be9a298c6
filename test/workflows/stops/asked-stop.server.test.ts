import { describe, expect, test, vi } from 'vitest';
import { ACCOUNT_STOP_WORKFLOW, ORDERS_TASK_QUEUE, STOP_ASKED_MEMO } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { rogueAt } from '../../temporal/rogue.fixture.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 60_000 });

const asked = () => ({ by: 'Ann Smith', reason: 'the bank called', at: new Date().toISOString() });

/** Starts the run of a stop, as the command does before it tells it to stop; nobody tells it. */
const ask = (lab: Pick<ReturnType<typeof useLab>, 'temporal'>, memo: object = asked()) =>
  lab.temporal.client.workflow.start(ACCOUNT_STOP_WORKFLOW, {
    ...{ workflowId: 'stop:default', taskQueue: ORDERS_TASK_QUEUE, args: [{ account: 'default' }] },
    ...{ workflowIdConflictPolicy: 'TERMINATE_EXISTING', memo: { [STOP_ASKED_MEMO]: memo } },
  });

describe('a stop that is asked for, before any worker took it', () => {
  const lab = useLab();
  const pay = () => lab.orders.start('withdraw', orderInput('withdraw', newOrderId('asked')));

  test('is heeded for ten seconds, as whoever asked says, and stops nothing after them', async () => {
    await ask(lab);
    const order = await pay();
    await vi.waitFor(
      async () =>
        expect((await order.state()).waitingFor).toMatch(/^account default is stopped since .* by Ann Smith: /),
      { timeout: 8_000, interval: 50 },
    );
    expect(lab.sandbox.stats().createsByOrderId[order.orderId]).toBeUndefined();
    expect((await lab.orders.accounts.state('default')).stop).toBeUndefined();
    expect((await order.result()).outcome).toBe('completed');
  });

  test('is not heeded if it was asked a while ago', async () => {
    await ask(lab, { ...asked(), at: new Date(Date.now() - 11_000).toISOString() });
    expect((await (await pay()).result({ timeoutMs: 8_000 })).outcome).toBe('completed');
  });
});

describe('a stop that somebody without the keys asks for', () => {
  const lab = useLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true });

  test('is not heeded', async () => {
    await ask({ temporal: { ...lab.temporal, client: rogueAt(lab).client } });
    const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('forged')));
    expect((await order.result({ timeoutMs: 8_000 })).outcome).toBe('completed');
  });
});
