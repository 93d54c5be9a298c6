import { expect, it } from 'vitest';
import type { OrderFilter } from '../../src/client/order-filter.js';
import { BULK_WITHDRAW_WORKFLOW, batchWorkflowId, orderWorkflowId, searchAttribute } from '../../src/contract/names.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient({ withWorker: false });

const ids = async (filter: OrderFilter): Promise<string[]> =>
  (await fixture.orders.list(filter)).map(({ orderId }) => orderId).toSorted();

const soon = { timeout: 60_000 };

/** An order of a type that wants a person, of that amount, as its own workflow would show it. */
const waiting = (account: string, orderId: string, amount: string | undefined, currency = 'usd', type = 'withdraw') =>
  fixture.namespace.client.workflow.start(type, {
    workflowId: orderWorkflowId(account, orderId),
    taskQueue: 'nobody',
    typedSearchAttributes: [
      { key: searchAttribute.account, value: account },
      { key: searchAttribute.needsAttention, value: true },
      { key: searchAttribute.attentionReason, value: 'over-cap' },
      { key: searchAttribute.attentionSince, value: new Date() },
      { key: searchAttribute.currencyFrom, value: currency },
      { key: searchAttribute.currencyTo, value: currency },
      ...(amount === undefined ? [] : [{ key: searchAttribute.amount, value: `${amount} ${currency}` }]),
    ],
  });

it('filters by type, currency and age', async () => {
  const account = 'kinds';
  await waiting(account, 'kind-1', '1', 'usd');
  await waiting(account, 'kind-2', '1', 'eur', 'deposit');
  await expect.poll(() => ids({ account }), soon).toEqual(['kind-1', 'kind-2']);
  expect(await ids({ account, type: 'deposit' })).toEqual(['kind-2']);
  expect(await ids({ account, type: 'received' })).toEqual([]);
  expect(await ids({ account, currency: 'usd' })).toEqual(['kind-1']);
  expect(await ids({ account, startedBefore: new Date() })).toEqual(['kind-1', 'kind-2']);
  expect(await ids({ account, startedBefore: new Date(Date.now() - 3_600_000) })).toEqual([]);
});

it('filters by amount as numbers, behind any number of smaller ones, and hides nothing whose amount is not shown', async () => {
  const account = 'amounts';
  await waiting(account, 'large', '100.5');
  await waiting(account, 'unknown', undefined);
  for (const n of [1, 2, 3]) await waiting(account, `small-${n}`, `9.${n}`);
  await expect.poll(async () => (await ids({ account })).length, soon).toBe(5);
  const least = { account, needsAttention: true, currency: 'usd' };
  expect(await ids({ ...least, minAmount: '100.50' })).toEqual(['large', 'unknown']);
  expect(await ids({ ...least, minAmount: '100.51' })).toEqual(['unknown']);
  // The newest are small: a list that stopped at its limit before it looked would show none.
  expect(await ids({ ...least, minAmount: '10', limit: 2 })).toEqual(['large', 'unknown']);
});

it.for([
  [{ minAmount: '10', needsAttention: true }, 'minAmount: needs a currency'],
  [{ minAmount: '10', currency: 'usd' }, 'minAmount: needs a currency, and the list of what wants a person'],
  [{ minAmount: '1e3', currency: 'usd', needsAttention: true }, 'minAmount: must be a decimal number'],
  [{ currency: 'USD' }, 'currency: must be a lowercase currency code'],
  [{ type: 'payout' }, 'type: must be one of deposit'],
] as const)('refuses %o, instead of finding what was not meant', async ([filter, reason]) => {
  await expect(fixture.orders.list(filter as OrderFilter)).rejects.toThrow(reason);
});

it('lists batches, those of an account, and those that have not ended', async () => {
  const { client } = fixture.namespace;
  const start = (account: string, batchId: string) =>
    client.workflow.start(BULK_WITHDRAW_WORKFLOW, {
      workflowId: batchWorkflowId(account, batchId),
      taskQueue: 'nobody',
    });
  const first = await start('shop', 'b-1');
  await start('shop', 'b-2');
  await start('other', 'b-3');
  await client.workflow.start(BULK_WITHDRAW_WORKFLOW, { workflowId: 'bulk-plan:shop:x', taskQueue: 'nobody' });
  await first.terminate('a test');
  await fixture.orders.start('withdraw', payout('no-batch'));
  const listed = async (filter = {}) =>
    (await fixture.orders.batches.list(filter)).map(({ batchId, status }) => `${batchId} ${status}`);
  await expect.poll(() => listed(), soon).toEqual(['b-3 open', 'b-2 open', 'b-1 stopped']);
  expect(await listed({ account: 'shop' })).toEqual(['b-2 open', 'b-1 stopped']);
  expect(await listed({ open: true })).toEqual(['b-3 open', 'b-2 open']);
  expect(await listed({ limit: 1 })).toEqual(['b-3 open']);
  await expect(fixture.orders.batches.list({ account: 'NO' })).rejects.toThrow('account: must be');
});
