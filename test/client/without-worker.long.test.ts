import { Client, Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { startOrder } from '../../src/client/start-order.js';
import { PaymentOrders } from '../../src/client.js';
import { recoveredStart } from '../../src/contract/order/followers.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import { OTHER_CARD, orderFor } from '../contract/inputs.fixture.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient({ withWorker: false });

const rows = [{ order_id: 'o-1', currency: 'usd', network: 'card', amount: '1', wallet: '4111111111111111' }];

describe('without a worker', () => {
  it('a start is accepted, and a second one is compared with it', async () => {
    expect(await fixture.orders.start('withdraw', payout('alone-1'))).toMatchObject({ attached: false });
    expect(await fixture.orders.start('withdraw', payout('alone-1'))).toMatchObject({ attached: true });
    await expect(fixture.orders.start('withdraw', payout('alone-1', 'other'))).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'order',
      fields: ['order.description'],
    });
  });

  it('a start is compared with a run rebuilt from the order list, and sends nothing', async () => {
    const { order } = payout('rebuilt-1');
    const item = { ...orderFor('withdraw', order), balance_changes: [] };
    const rebuilt = recoveredStart('default', item)?.input as OrderInput<'withdraw'>;
    expect(await startOrder(fixture.namespace.client, 'withdraw', rebuilt)).toMatchObject({ attached: false });
    expect(await fixture.orders.start('withdraw', { order })).toMatchObject({ attached: true, recovered: true });
    const elsewhere = { order: { ...order, wallet: OTHER_CARD } };
    await expect(fixture.orders.start('withdraw', elsewhere)).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'order',
      fields: ['order.wallet'],
    });
  });

  it('the state of an order says that no worker answers', async () => {
    const handle = await fixture.orders.start('withdraw', payout('alone-2'));
    await expect(handle.state()).rejects.toMatchObject({ name: 'NoWorkerError' });
  });

  it('a decision on an order says so too, and that it may still be taken', async () => {
    const handle = await fixture.orders.start('withdraw', payout('alone-5'));
    const decision = { action: 'accept', by: 'ann', reason: 'looked it up', revision: 1 } as const;
    const calls = [handle.decide(decision), handle.decide(decision, { timeoutMs: 1_000 })];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ name: 'NoWorkerError' })));
    await expect(calls[0]).rejects.toThrow('before you repeat "decide"');
  }, 40_000);

  it('a plan ends with an error and leaves nothing behind', async () => {
    await expect(fixture.orders.batches.plan({ rows, startedBy: 'ann' })).rejects.toMatchObject({
      name: 'NoWorkerError',
    });
    const running = `WorkflowType = 'bulkWithdraw' AND WorkflowId STARTS_WITH 'bulk-plan:' AND ExecutionStatus = 'Running'`;
    await expect
      .poll(() => fixture.namespace.client.workflow.count(running), { timeout: 10_000 })
      .toMatchObject({ count: 0 });
  });

  it('a batch that needs no plan is started and waits', async () => {
    const batch = await fixture.orders.batches.start({ batchId: 'waits', rows, startedBy: 'ann' });
    expect(await batch.isOpen()).toBe(true);
    expect(await fixture.orders.batches.start({ batchId: 'waits', rows, startedBy: 'bob' })).toMatchObject({
      attached: true,
    });
    const calls = [batch.state(), batch.pause({ by: 'bob', reason: 'x' }), batch.approve({ digest: 'x', by: 'bob' })];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ name: 'NoWorkerError' })));
    // Temporal may hand the approval to the next worker: nobody may take it for lost.
    await expect(calls[2]).rejects.toThrow('before you repeat "approve"');
    expect(await batch.isOpen()).toBe(true);
  });
});

describe('without Temporal', () => {
  it('a start fails within half a minute with the address and what to check', async () => {
    // Port 1 needs privileges to listen on: nobody does.
    const connection = Connection.lazy({ address: '127.0.0.1:1' });
    const orders = new PaymentOrders(new Client({ connection, namespace: 'default' }));
    const failed = orders.start('withdraw', payout('nowhere-1'));
    await expect(failed).rejects.toMatchObject({
      name: 'TemporalUnreachableError',
      message: expect.stringContaining('127.0.0.1:1'),
    });
    await connection.close();
  }, 40_000);

  it('a namespace that does not exist counts as unreachable', async () => {
    const orders = new PaymentOrders(
      new Client({ connection: fixture.namespace.client.connection, namespace: 'nope' }),
    );
    await expect(orders.start('withdraw', payout('nowhere-2'))).rejects.toThrow(/namespace nope: no such namespace/);
  });
});

describe('without search attributes', () => {
  it('a start names the command that creates them', async () => {
    const { client } = fixture.namespace;
    const namespace = `${fixture.namespace.namespace}-bare`;
    const workflowExecutionRetentionPeriod = { seconds: 86_400 };
    await client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod } as never);
    const orders = new PaymentOrders(new Client({ connection: client.connection, namespace }));
    await expect
      .poll(() => orders.start('withdraw', payout('bare-1')).catch((error: unknown) => String(error)), {
        timeout: 20_000,
      })
      .toContain('temporal operator search-attribute create');
  });
});
