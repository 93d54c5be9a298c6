import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/client/errors.js';
import { orderQuery } from '../../src/client/list-orders.js';
import { payout, useClient } from './client-fixture.js';

const fixture = useClient();

const ids = async (filter: Parameters<typeof fixture.orders.list>[0]): Promise<string[]> =>
  (await fixture.orders.list(filter)).map(({ orderId }) => orderId).toSorted();

describe('the list', () => {
  it('filters by account, batch and limit, newest first', async () => {
    await fixture.orders.start('withdraw', { ...payout('list-1'), account: 'shop', batchId: 'b-1' });
    await fixture.orders.start('withdraw', { ...payout('list-2'), account: 'shop', batchId: 'b-2' });
    await expect.poll(() => ids({ account: 'shop' }), { timeout: 10_000 }).toEqual(['list-1', 'list-2']);
    expect(await ids({ batchId: 'b-1' })).toEqual(['list-1']);
    expect(await ids({ account: 'shop', limit: 1 })).toEqual(['list-2']);
    expect(await ids({ account: 'nobody' })).toEqual([]);
    expect(await ids({ needsAttention: true })).toEqual([]);
  });

  it('shows currencies and both times of a closed order', async () => {
    const handle = await fixture.orders.start('withdraw', { ...payout('list-3'), account: 'closed' });
    await fixture.namespace.client.workflow.getHandle(handle.workflowId).signal('end');
    await handle.result();
    const closed = () => fixture.orders.list({ account: 'closed' });
    await expect.poll(closed, { timeout: 10_000 }).toEqual([
      expect.objectContaining({
        currencyFrom: 'usd',
        currencyTo: 'usd',
        startedAt: expect.any(Date),
        closedAt: expect.any(Date),
      }),
    ]);
  });

  it('takes hostile values for what they are: values', async () => {
    await fixture.orders.start('withdraw', payout('list-4'));
    await expect.poll(() => ids({ status: 'open' }), { timeout: 10_000 }).toContain('list-4');
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom("'", '"', '\\', ' ', 'O', 'R', '=', '1', '\n', '\0') }),
        async (text) => {
          expect(await ids({ batchId: `${text}' OR PaymentOrderStatus = 'open` })).toEqual([]);
        },
      ),
      { numRuns: 20 },
    );
  });

  it.each([0, 1.5, 10_001])('refuses limit %d', async (limit) => {
    await expect(fixture.orders.list({ limit })).rejects.toBeInstanceOf(InvalidInputError);
  });

  it('refuses an account no order can have', async () => {
    await expect(fixture.orders.list({ account: "x' OR 1=1" })).rejects.toThrow('account');
  });
});

describe('the visibility query', () => {
  it('asks for order workflows only', () => {
    expect(orderQuery({})).toBe(
      "WorkflowType IN ('deposit', 'depositExchange', 'depositExchangeWithdraw', 'exchange', 'exchangeWithdraw', 'withdraw')",
    );
  });

  it('closes every literal it opens', () => {
    expect(orderQuery({ batchId: "a'b\\" })).toContain("PaymentBatchId = 'a\\'b\\\\'");
  });
});
