import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/client/errors.js';
import { orderQuery } from '../../src/client/list-orders.js';
import { orderStartOptions } from '../../src/client/start-options.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient();

const ids = async (filter: Parameters<typeof fixture.orders.list>[0]): Promise<string[]> =>
  (await fixture.orders.list(filter)).orders.map(({ orderId }) => orderId).toSorted();

describe('the list', () => {
  it('filters by account, batch and limit, newest first', async () => {
    await fixture.orders.start('withdraw', { ...payout('list-1'), account: 'shop', batchId: 'b-1' });
    await fixture.orders.start('withdraw', { ...payout('list-2'), account: 'shop', batchId: 'b-2' });
    await expect.poll(() => ids({ account: 'shop' }), { timeout: 60_000 }).toEqual(['list-1', 'list-2']);
    expect(await ids({ batchId: 'b-1' })).toEqual(['list-1']);
    expect(await ids({ account: 'shop', limit: 1 })).toEqual(['list-2']);
    expect(await ids({ account: 'nobody' })).toEqual([]);
    expect(await ids({ needsAttention: true })).toEqual([]);
  });

  it('finds an order by its account that was started without search attributes', async () => {
    const options = { taskQueue: 'payment-orders', args: [payout('bare-1')] };
    await fixture.namespace.client.workflow.start('withdraw', { ...options, workflowId: 'order:bare:bare-1' });
    await expect.poll(() => ids({ account: 'bare' }), { timeout: 60_000 }).toEqual(['bare-1']);
  });

  it('shows currencies and both times of a closed order', async () => {
    const handle = await fixture.orders.start('withdraw', { ...payout('list-3'), account: 'closed' });
    await fixture.namespace.client.workflow.getHandle(handle.workflowId).signal('end');
    await handle.result();
    const closed = async () => (await fixture.orders.list({ account: 'closed' })).orders;
    await expect.poll(closed, { timeout: 60_000 }).toEqual([
      expect.objectContaining({
        currencyFrom: 'usd',
        currencyTo: 'usd',
        startedAt: expect.any(Date),
        closedAt: expect.any(Date),
      }),
    ]);
  });

  it('shows an order whose workflow was terminated as terminated, with attention, and not as open', async () => {
    const account = 'stopped';
    const [gone] = await Promise.all(
      ['gone-1', 'lives-1'].map((id) => fixture.orders.start('withdraw', { ...payout(id), account })),
    );
    await fixture.namespace.client.workflow.getHandle(gone?.workflowId ?? '').terminate('by mistake');
    const stopped = async () => (await fixture.orders.list({ account, status: 'terminated' })).orders;
    await expect
      .poll(stopped, { timeout: 60_000 })
      .toEqual([expect.objectContaining({ orderId: 'gone-1', status: 'terminated', needsAttention: true })]);
    expect(await ids({ account, status: 'open' })).toEqual(['lives-1']);
    expect(await ids({ account, needsAttention: true })).toEqual(['gone-1']);
    expect(await ids({ account, needsAttention: false })).toEqual(['lives-1']);
    expect(await ids({ account })).toEqual(['gone-1', 'lives-1']);
  });

  it('forgets a stopped run once another run of the same id follows the order', async () => {
    const account = 'again';
    const input = { ...payout('again-1'), account };
    const handle = await fixture.orders.start('withdraw', input);
    await fixture.namespace.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
    const options = { ...orderStartOptions('withdraw', input), workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const };
    await fixture.namespace.client.workflow.start('withdraw', options);
    const shown = async () => (await fixture.orders.list({ account })).orders.map(({ status }) => status);
    await expect.poll(shown, { timeout: 60_000 }).toEqual(['open']);
  });

  it('takes hostile values for what they are: values', async () => {
    await fixture.orders.start('withdraw', payout('list-4'));
    await expect.poll(() => ids({ status: 'open' }), { timeout: 60_000 }).toContain('list-4');
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

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ account: "x' OR 1=1" }, 'account'],
    [{ status: 'parkd' }, 'status: must be one of open, uncertain'],
  ])('refuses %j instead of finding none', async (filter, says) => {
    const refused = await fixture.orders.list(filter).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidInputError);
    expect(String(refused)).toContain(says);
  });
});

describe('the visibility query', () => {
  it('asks for order workflows only', () => {
    expect(orderQuery({})).toBe(
      "WorkflowType IN ('deposit', 'depositExchange', 'depositExchangeWithdraw', 'exchange', 'exchangeWithdraw', 'withdraw', 'receivedDeposit')",
    );
  });

  it('closes every literal it opens', () => {
    expect(orderQuery({ batchId: "a'b\\" })).toContain("PaymentBatchId = 'a\\'b\\\\'");
    expect(orderQuery({ reference: "a'b" })).toContain("PaymentReference = 'a\\'b'");
  });
});
