import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { openCountingLine } from '../support/counting-line.js';
import { end, payout, useClient } from './client.fixture.js';

const fixture = useClient();

async function start(orderId: string, script?: string) {
  return fixture.orders.start('withdraw', payout(orderId, script));
}

describe('an open order', () => {
  it('whose workflow ends while a caller waits for the created order still answers that caller', async () => {
    const handle = await start('open-5', 'never-created');
    const created = handle.created();
    await expect(handle.final({ timeoutMs: 500 })).rejects.toThrow('is still running or is waiting for a person');
    await end(fixture, 'open-5');
    expect(await created).toMatchObject({ status: 'completed' });
  });

  it('that ends in the very task that carries a question, while messages come in, still answers it', async () => {
    const handle = await start('open-7', 'ends-when-asked');
    const created = handle.created();
    // Temporal fails a task that ends a workflow beside unread signals, and drops the updates that came with it.
    for (let n = 0; n < 15; n += 1) {
      await fixture.namespace.client.workflow
        .getHandle(handle.workflowId)
        .signal('orderCallback')
        .catch(() => undefined);
      await sleep(20);
    }
    expect(await created).toMatchObject({ user_order_id: 'open-7' });
  });
});

describe('an order that ended without existing', () => {
  it.each(['created', 'final', 'result'] as const)(
    'rejects %s with the failure type and what to do next',
    async (wait) => {
      const handle = await start(`failed-${wait}`, 'fails:OrderRejected');
      await expect(handle[wait]()).rejects.toMatchObject({
        name: 'FailedError',
        subject: 'order',
        type: 'OrderRejected',
        message: expect.stringMatching(/said no.*again/),
      });
    },
  );

  it('names the bad fields of InvalidOrder', async () => {
    const handle = await start('failed-1', 'fails-invalid');
    await expect(handle.result()).rejects.toMatchObject({
      type: 'InvalidOrder',
      fields: [{ field: 'order.amount', reason: 'below the minimum' }],
    });
  });

  it('with a failure type that is none of ours counts as unresolved', async () => {
    const handle = await start('failed-2', 'fails:Bug');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'order' });
  });
});

describe('the result of an order that this caller started', () => {
  it('costs one call beside the start, however it is waited for', async () => {
    const { namespace } = fixture;
    const line = await openCountingLine(namespace.address);
    const connection = await Connection.connect({ address: line.address });
    try {
      const orders = new PaymentOrders(new Client({ connection, namespace: namespace.namespace }));
      const before = line.calls();
      const handle = await orders.start('withdraw', payout('counted'));
      const result = handle.result();
      await end(fixture, 'counted');
      expect(await result).toMatchObject({ outcome: 'completed' });
      const made = Object.entries(line.calls()).map(([name, count]) => [name, count - (before[name] ?? 0)]);
      expect(made.filter(([, count]) => count)).toEqual([
        // Once in a while: whether the account is served.
        ['DescribeTaskQueue', 1],
        ['StartWorkflowExecution', 1],
        ['GetWorkflowExecutionHistory', 1],
      ]);
    } finally {
      await connection.close();
      await line.close();
    }
  });

  it('is that of the newest run where its id was started again after it failed', async () => {
    const first = await start('again-1', 'fails:OrderRejected');
    await expect(first.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    const second = await fixture.orders.start('withdraw', payout('again-1'), { again: true });
    const result = first.result();
    await end(fixture, 'again-1');
    expect(await result).toMatchObject({ outcome: 'completed' });
    expect(await second.result()).toMatchObject({ outcome: 'completed' });
  });

  it('is that of the newest run where it was reset while the caller waits', async () => {
    const { client, namespace } = fixture.namespace;
    const handle = await start('reset-1');
    await handle.created();
    const result = handle.result();
    const { events } = await client.workflow.getHandle(handle.workflowId).fetchHistory();
    await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId,
      requestId: 'reset-1',
      reason: 'test',
    });
    await end(fixture, 'reset-1');
    expect(await result).toMatchObject({ outcome: 'completed' });
  });
});

describe('an order nobody started', () => {
  it('is not the one of the same id in another account', async () => {
    await start('mine-1');
    await expect(fixture.orders.order('mine-1', { account: 'other' }).state()).rejects.toMatchObject({
      name: 'UnknownIdError',
      subject: 'order',
    });
  });
});
