import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { shortHash } from '../../src/config/policy.js';
import { type Policy, Secret } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

const KEY = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
/** Read at every attempt, so that a test may change the rules, as a restart of the workers would. */
const rules: PolicyRule[] = [];
const policies = new Map<string, Policy>([['default', { rules, payeeKey: KEY }]]);
const setRules = (...changed: PolicyRule[]) => rules.splice(0, 9, ...changed);
const lab = useLab({ limits: { policies } });

const pay = (amount: string, marker = '', order: Record<string, unknown> = {}) =>
  startSteered(lab, 'withdraw', { marker, compensation: 'report', order: { amount, ...order } });

/** All payloads of a history, decoded. */
const histories = (events: unknown): string =>
  [...JSON.stringify(events).matchAll(/"data":"([^"]+)"/g)]
    .map(([, data = '']) => Buffer.from(data, 'base64'))
    .join('\n');

vi.setConfig({ testTimeout: 120_000 });

describe('the sum of a currency within a day', () => {
  test('parks what exceeds it with the figures, and an approval sends it', async () => {
    setRules({ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' });
    const { handle: first } = await pay('60');
    expect((await first.result()).outcome).toBe('completed');
    const { orderId, handle } = await pay('40.01');
    const { attention } = await parkedFor(handle, 'usd per day: the total would be 100.01 usd');
    expect(attention?.reason).toMatch(/\. Needs 1 approval, has 0: the next one sends it$/);
    expect(attention).toMatchObject({ code: 'policy', allowed: ['approve', 'refuse'] });
    expect(executions(lab, orderId)).toBe(0);
    const { handle: fits } = await pay('40');
    expect((await fits.result()).outcome).toBe('completed');
    await decideNow(handle, 'approve');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ action: 'approve' }] });
    expect(executions(lab, orderId)).toBe(1);
  });

  test('is free again for what an order did not execute', async () => {
    setRules({ rule: 'sum', per: 'day', currency: 'eur', max: '100', breach: 'park' });
    const { handle: canceled } = await pay('100', 'outcome=canceled', { currency: 'eur' });
    expect((await canceled.result()).outcome).toBe('canceled');
    const { handle: partly } = await pay('100', 'outcome=completed_partially fraction=0.5', { currency: 'eur' });
    expect(await partly.result()).toMatchObject({ outcome: 'completed_partially' });
    const { handle: rest } = await pay('50', '', { currency: 'eur' });
    expect((await rest.result()).outcome).toBe('completed');
    const { handle: above } = await pay('1.50', '', { currency: 'eur' });
    await parkedFor(above, 'the total would be 101.5 eur');
    await decideNow(above, 'refuse');
    const ended: Error = await above.result().then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(ended).toMatchObject({ type: 'OrderCancelled' });
    expect(ended.message).toMatch(/was refused by ann \(.* UTC, "as agreed"\) and never sent, so no money moved\./);
    expect(ended.message).not.toContain('the next one sends it');
  });
});

const CARDS = ['4111111111111111', '5555555555554444'] as const;

describe('rules about payees, approvers and refusals', () => {
  test('count payouts to a payee, and hold the first large one', async () => {
    setRules(
      { rule: 'count', max: 2, breach: 'park' },
      { rule: 'new-payee', currency: 'usd', above: '20', breach: 'park' },
    );
    const [known, unknown] = CARDS;
    const { handle: small } = await pay('20', '', { currency: 'usd', wallet: unknown });
    expect((await small.result()).outcome).toBe('completed');
    const { handle: large } = await pay('21', '', { currency: 'usd', wallet: unknown });
    expect((await large.result()).outcome).toBe('completed');
    const { handle: third } = await pay('1.50', '', { currency: 'usd', wallet: unknown });
    await parkedFor(third, 'payouts per day and payee: the total would be 3 payouts');
    const { handle: first } = await pay('20.01', '', { currency: 'usd', wallet: '4000056655665556' });
    await parkedFor(first, 'the payee was never paid before');
    const { events } = await lab.temporal.client.workflow.getHandle('policy:default').fetchHistory();
    for (const card of [known, unknown]) expect(histories(events)).not.toContain(card);
  });

  test('do not take a payee for paid if what he got is unknown', async () => {
    setRules({ rule: 'new-payee', currency: 'usd', above: '20', breach: 'park' });
    const wallet = '4000002500003155';
    const { handle: canceled } = await pay('20', 'outcome=canceled list=changes-text list_times=all', { wallet });
    expect(await canceled.result()).toMatchObject({ outcome: 'canceled', remainderUnknown: expect.any(String) });
    const { orderId, handle } = await pay('5000', '', { wallet });
    await parkedFor(handle, 'the payee was never paid before');
    expect(executions(lab, orderId)).toBe(0);
  });

  test('take an account number at another bank for another payee', async () => {
    const bank = (bank_code: string) =>
      pay('20', '', { network: 'bank', wallet: 'ACCOUNT-1', wallet_details: { bank_code } });
    const hash = createHmac('sha256', KEY.reveal()).update('bank:ACCOUNT-1:111').digest('hex');
    setRules({ rule: 'payees', allowed: [shortHash(hash)], breach: 'park' });
    expect((await (await bank('111')).handle.result()).outcome).toBe('completed');
    setRules(...rules, { rule: 'new-payee', currency: 'usd', above: '19', breach: 'park' });
    const { orderId, handle } = await bank('999');
    await parkedFor(
      handle,
      'not in the list of allowed payees; new payee above 19 usd: the payee was never paid before',
    );
    expect(executions(lab, orderId)).toBe(0);
  });

  test('need the approvals of two persons', async () => {
    setRules({ rule: 'tier', currency: 'usd', above: '10', approvers: 2 });
    const { orderId, handle } = await pay('10.01');
    await parkedFor(handle, '10.01 usd is above 10 usd, so 2 persons must approve it');
    await decideNow(handle, 'approve');
    await parkedFor(handle, 'approved by ann, 1 more must approve');
    await decideNow(handle, 'approve');
    await parkedFor(handle, 'approved by ann, 1 more must approve');
    expect(executions(lab, orderId)).toBe(0);
    const { revision } = await handle.state();
    await handle.decide({ action: 'approve', by: 'bob', reason: 'seen', revision });
    expect((await handle.result()).outcome).toBe('completed');
  });

  test('need another approval once the rule demands more persons', async () => {
    setRules({ rule: 'tier', currency: 'usd', above: '10', approvers: 1 });
    const { orderId, handle } = await pay('16');
    await parkedFor(handle, '16 usd is above 10 usd');
    setRules({ rule: 'tier', currency: 'usd', above: '10', approvers: 2 });
    await decideNow(handle, 'approve');
    await parkedFor(handle, 'so 2 persons must approve it');
    expect(executions(lab, orderId)).toBe(0);
    await decideNow(handle, 'approve');
    const { revision } = await parkedFor(handle, '1 more must approve');
    await handle.decide({ action: 'approve', by: 'bob', reason: 'seen', revision });
    expect((await handle.result()).outcome).toBe('completed');
  });

  test('need another person than who started the order', async () => {
    setRules({ rule: 'tier', currency: 'usd', above: '10', approvers: 1 });
    const metadata = { startedBy: 'Ann  Smith' };
    const { handle } = await startSteered(lab, 'withdraw', { marker: '', compensation: 'report', metadata });
    const { revision } = await parkedFor(handle, 'is above 10 usd');
    const approve = (by: string) => handle.decide({ action: 'approve', by, reason: 'as agreed', revision });
    for (const by of ['ann smith', 'ＡＮＮ Smith'])
      await expect(approve(by)).rejects.toThrow('started this order, so somebody else must approve it');
    await approve('bob');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ by: 'bob' }] });
  });

  test('need another person than who started the batch of a row', async () => {
    setRules({ rule: 'tier', currency: 'usd', above: '10', approvers: 1 });
    const row = { ...orderInput('withdraw', newOrderId('row')).order };
    await lab.orders.batches.start({ batchId: newOrderId('batch'), rows: [row], startedBy: 'Ann  Smith' });
    const handle = lab.orders.order(row.order_id);
    await vi.waitUntil(() => handle.isOpen().catch(() => false), { timeout: 60_000, interval: 100 });
    const { revision } = await parkedFor(handle, 'is above 10 usd');
    const approve = (by: string) => handle.decide({ action: 'approve', by, reason: 'as agreed', revision });
    await expect(approve('ann smith')).rejects.toThrow('started this order, so somebody else must approve it');
    await approve('bob');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ by: 'bob' }] });
  });

  test('end an order unsent, and a dry run says so and reserves nothing', async () => {
    setRules({ rule: 'sum', per: '30 days', currency: 'eur', max: '1000', breach: 'refuse' });
    const input = orderInput('withdraw', newOrderId('dry'));
    const dry = (amount: string) =>
      lab.orders.check('withdraw', { ...input, order: { ...input.order, currency: 'eur', amount } });
    expect(await dry('600')).toMatchObject({ wouldBeSent: true });
    expect(await dry('600')).toMatchObject({ wouldBeSent: true });
    const { wouldBeSent, reasons } = await dry('2000');
    expect([wouldBeSent, reasons.join()]).toEqual([
      false,
      expect.stringContaining('eur per 30 days: the total would be 2'),
    ]);
    const { orderId, handle } = await pay('2000', '', { currency: 'eur' });
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(executions(lab, orderId)).toBe(0);
    setRules({ rule: 'sum', per: '30 days', currency: 'eur', max: '1000', breach: 'park' });
    expect(await dry('2000')).toMatchObject({ wouldPark: { code: 'policy' } });
  });

  test('judge a batch as a whole in its plan', async () => {
    setRules(
      { rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' },
      { rule: 'tier', currency: 'usd', above: '50', approvers: 1 },
    );
    const rows = ['40', '60', '70'].map((amount) => {
      return { order_id: newOrderId('row'), currency: 'usd', network: 'card', amount, wallet: CARDS[0] };
    });
    const plan = await lab.orders.batches.plan({ rows, startedBy: 'ann' });
    const warnings = JSON.stringify(plan.warnings);
    expect(warnings).toMatch(/the policy, usd per day: the total would be [\d.]+ usd, and at most 100 usd are allowed/);
    expect(warnings).toContain('the policy, amount above 50 usd: each of these rows waits for a person');
  });
});

test('the sums survive the loss of their workflow', async () => {
  setRules({ rule: 'sum', per: 'day', currency: 'usdt', max: '300', breach: 'park' });
  const order = { currency: 'usdt', network: 'tron', wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };
  const { handle: paid } = await pay('200', '', order);
  expect((await paid.result({ timeoutMs: 30_000 })).outcome).toBe('completed');
  const { orderId, handle: unclear } = await pay('50', 'create=500 after_ms=60000', order);
  await vi.waitFor(() => expect(executions(lab, orderId)).toBe(1), 30_000);
  await lab.temporal.client.workflow.getHandle('policy:default').terminate('lost');
  const { handle: above } = await pay('51', '', order);
  await parkedFor(above, 'the total would be 30');
  const { handle: fits } = await pay('45', '', order);
  expect((await fits.result({ timeoutMs: 30_000 })).outcome).toBe('completed');
  expect((await unclear.state()).phase).not.toBe('parked');
});

test('the breach of a refund needs another person than who named its wallet', async () => {
  setRules({ rule: 'new-payee', currency: 'usd', above: '1', breach: 'park' });
  const { orderId, handle } = await startSteered(lab, 'deposit_exchange_withdraw', {
    ...{ marker: 'outcome=completed_partially left=unexchanged fraction=0.5', compensation: 'ask' },
    metadata: { startedBy: 'cid' },
  });
  await parkedFor(handle);
  const revertTo = { network: 'card', wallet: '4000056655665556' };
  await decideNow(handle, 'revert', { kind: 'unexchanged', as: 'withdraw', revertTo });
  const followUp = lab.orders.order(`${orderId}.r1`);
  await vi.waitUntil(() => followUp.isOpen().catch(() => false), { timeout: 60_000, interval: 100 });
  const { revision } = await parkedFor(followUp, 'the payee was never paid before');
  const approve = (by: string) => followUp.decide({ action: 'approve', by, reason: 'as agreed', revision });
  for (const by of ['Ann', 'cid'])
    await expect(approve(by)).rejects.toThrow('started this order, so somebody else must approve it');
  await approve('bob');
  expect((await handle.result()).compensation).toMatchObject({ status: 'done', outcome: 'completed' });
});
