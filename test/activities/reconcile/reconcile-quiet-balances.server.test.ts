import { expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW, searchAttribute } from '../../../src/contract/names.js';
import { disagreementOf, type ReconcileResult } from '../../../src/contract/reconcile/reconcile.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

/** Nothing is ever paid in these two; in usd everything is. */
const [QUIET, OTHER] = ['btc', 'eth'];

const lab = useLab({ quiet: true });

/** Reconciles, and waits until the next run will find this one. */
async function reconciled(): Promise<ReconcileResult> {
  const result = await lab.orders.reconcile();
  const { client } = lab.temporal;
  const { runId } = await client.workflow.getHandle('reconcile:default').describe();
  const query = `RunId = '${runId}' AND ExecutionStatus = 'Completed'`;
  await expect.poll(async () => (await client.workflow.count(query)).count, { timeout: 60_000 }).toBe(1);
  return result;
}

const pay = async () => (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('paid')))).result();

const carried = ({ balances }: ReconcileResult, currency: string) =>
  balances?.find((balance) => balance.currency === currency)?.amount;

test('the first run has nothing to compare quiet currencies with, and says so', async () => {
  await pay();
  const result = await reconciled();
  expect(disagreementOf(result)).toBeUndefined();
  const [note = ''] = result.notes.filter((text) => text.startsWith('no change and no earlier run'));
  expect(note).toMatch(new RegExp(`: .*\\b${QUIET}, .*${OTHER}\\b`));
  expect(note).not.toContain('usd,');
  expect(carried(result, QUIET)).toBe(lab.sandbox.ledger()[QUIET]);
});

test('a run later they agree, payments in others or not', async () => {
  await pay();
  const result = await reconciled();
  expect(disagreementOf(result)).toBeUndefined();
  expect(result.notes).toEqual([]);
});

test('balances that cannot be read are noted, not taken for empty, and compared by the next run', async () => {
  lab.sandbox.set({ faults: { 'balances.all-malformed': 1 } });
  const result = await reconciled();
  lab.sandbox.set({ faults: {} });
  expect(disagreementOf(result)).toBeUndefined();
  expect(result.notes).toContainEqual(expect.stringMatching(/^balances that cannot be read .*\bbtc\b/));
  expect(carried(result, QUIET)).toBe(lab.sandbox.ledger()[QUIET]);
});

test('a quiet currency that was emptied is a gap, and stays one in the next run', async () => {
  const before = lab.sandbox.ledger()[QUIET] ?? '';
  lab.sandbox.set({ balances: { [QUIET]: '0' } });
  const gap = { currency: QUIET, amount: `-${before}`, after: before, before: '0', now: true };
  const result = await reconciled();
  expect(result.gaps).toEqual([{ ...gap, since: expect.stringMatching(/^20.*Z$/) }]);
  expect(disagreementOf(result)).toBe('gaps 1');
  const { typedSearchAttributes } = await lab.temporal.client.workflow.getHandle('reconcile:default').describe();
  expect(typedSearchAttributes.get(searchAttribute.needsAttention)).toBe(true);

  expect((await reconciled()).gaps).toMatchObject([gap]);
  lab.sandbox.set({ balances: { [QUIET]: before } });
  expect(disagreementOf(await reconciled())).toBeUndefined();
});

test('money that went before the first change that a window shows is a gap as well', async () => {
  const before = lab.sandbox.ledger()[OTHER] ?? '';
  await reconciled();
  lab.sandbox.set({ balances: { [OTHER]: '150000' } });
  const input = orderInput('exchange', newOrderId('sold'));
  const order = { ...input.order, currency_from: 'eth', currency_to: 'btc', amount: '2' };
  await (await lab.orders.start('exchange', { order } as typeof input)).result();
  const result = await reconciled();
  expect(result.gaps).toEqual([
    { currency: OTHER, amount: '-50000', after: before, before: '150000', since: expect.any(String) },
  ]);
});

test('a run by the clock goes on from one by hand, and another account’s runs are not looked at', async () => {
  lab.sandbox.set({ balances: { uah: '7' } });
  const { client } = lab.temporal;
  const start = (workflowId: string) =>
    client.workflow.start(RECONCILE_WORKFLOW, { workflowId, taskQueue: ORDERS_TASK_QUEUE, args: [{}] });
  const result: ReconcileResult = await (await start('reconcile:default-2026-11-22T10:00:00Z')).result();
  expect(result.gaps).toContainEqual(expect.objectContaining({ currency: 'uah', before: '7', now: true }));
  const own = lab.config.accounts.get('default');
  if (!own) throw new Error('the lab has an account');
  await lab.stopWorkers();
  await lab.startWorkers({ accounts: new Map([['default-2', { ...own, name: 'default-2' }]]) });
  expect(disagreementOf(await lab.orders.reconcile({ account: 'default-2' }))).not.toContain('gaps');
});
