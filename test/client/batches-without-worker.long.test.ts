import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';

let namespace: TestNamespace;
let orders: PaymentOrders;
beforeAll(async () => {
  namespace = await createTestNamespace();
  orders = new PaymentOrders(namespace.client);
});
afterAll(() => namespace?.close());

const rows = [{ order_id: 'o-1', currency: 'usd', network: 'card', amount: '1', wallet: '4111111111111111' }];

describe.concurrent('without a worker', () => {
  it('a plan ends with an error and leaves nothing behind', async ({ expect }) => {
    await expect(orders.batches.plan({ rows, startedBy: 'ann' })).rejects.toMatchObject({ name: 'NoWorkerError' });
    const running = `WorkflowType = 'bulkWithdraw' AND WorkflowId STARTS_WITH 'bulk-plan:' AND ExecutionStatus = 'Running'`;
    await expect.poll(() => namespace.client.workflow.count(running), { timeout: 10_000 }).toMatchObject({ count: 0 });
  });

  it('a batch that needs no plan is started and waits', async () => {
    const batch = await orders.batches.start({ batchId: 'waits', rows, startedBy: 'ann' });
    expect(await batch.isOpen()).toBe(true);
    expect(await orders.batches.start({ batchId: 'waits', rows, startedBy: 'bob' })).toMatchObject({ attached: true });
    const calls = [batch.state(), batch.pause({ by: 'bob', reason: 'x' }), batch.approve({ digest: 'x', by: 'bob' })];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ name: 'NoWorkerError' })));
    // Temporal may hand the approval to the next worker: nobody may take it for lost.
    await expect(calls[2]).rejects.toThrow('before you repeat "approve"');
    expect(await batch.isOpen()).toBe(true);
  });
});
