import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Policy, Secret } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { resetTo, resettableEvents, runOf } from '../reliability/reset.fixture.js';
import { useGatedLab } from '../support/lab.js';
import { listAnswer } from '../support/service-gate.js';
import { decideNow, executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

/* The policy beside stops, holds, waits for funds, follow-ups, cancellations, resets and its own loss. */

const KEY = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const rules: PolicyRule[] = [];
const policies = new Map<string, Policy>([['default', { rules, payeeKey: KEY }]]);
const lab = useGatedLab(undefined, { limits: { policies } });

/** Limits the sum of a currency, which only one test uses. */
const limit = (currency: string, max: string) =>
  rules.splice(0, 9, { rule: 'sum', per: 'day', currency, max, breach: 'park' });

type Options = Parameters<typeof startSteered>[2];
const pay = (currency: string, amount: string, { marker = '', order, ...options }: Partial<Options> = {}) =>
  startSteered(lab, 'withdraw', { marker, compensation: 'report', order: { currency, amount, ...order }, ...options });

const TRON = { network: 'tron', wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };
const SUMS = { workflowId: 'policy:default' };
const BY = { by: 'Ann', reason: 'to be checked' };
const createsOf = (id: string) => lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw')).length;

vi.setConfig({ testTimeout: 120_000 });

/** Stops the account, and waits until every worker knows: it may send for two seconds after a stop. */
async function stopAccount(): Promise<void> {
  await lab.orders.accounts.stop('default', BY);
  await sleep(2_500);
}

// A test that fails while the account is stopped would fail all others.
afterEach(() => lab.orders.accounts.resume('default', BY).catch(() => undefined));

describe('an order counts once, and until its end', () => {
  test('with its follow-up, which moves only what the order left', async () => {
    limit('usd', '12.50');
    const { orderId, handle } = await pay('usd', '12.50', {
      marker: 'outcome=completed_partially fraction=0.5',
      compensation: 'finish',
    });
    const result = await handle.result({ timeoutMs: 60_000 });
    expect(result.compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
    const { handle: more } = await pay('usd', '1.50');
    await parkedFor(more, 'the total would be 14 usd');
    await decideNow(more, 'refuse');
  });

  test('while it is stopped or held, and no longer once it is refused', async () => {
    limit('eur', '100');
    await stopAccount();
    const { orderId, handle: held } = await pay('eur', '60');
    await vi.waitFor(async () => expect((await held.state()).waitingFor).toContain('stopped'), 20_000);
    await held.hold(BY);
    await lab.orders.accounts.resume('default', BY);
    const { handle: above } = await pay('eur', '41');
    await parkedFor(above, 'the total would be 101 eur');
    // A hold asks first; after its release, the rule asks again.
    await above.hold(BY);
    await parkedFor(above, 'held by Ann');
    await decideNow(above, 'release');
    await parkedFor(above, 'the total would be 101 eur');
    await above.cancel();
    await expect(above.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    await decideNow(held, 'refuse');
    await expect(held.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(createsOf(orderId)).toBe(0);
    const { handle: fits } = await pay('eur', '100');
    expect((await fits.result()).outcome).toBe('completed');
  });

  test('after a reset of its workflow, which sends nothing twice', async () => {
    limit('usdt', '100');
    const { orderId, handle } = await pay('usdt', '60', { order: TRON });
    expect((await handle.result()).outcome).toBe('completed');
    const run = await runOf(lab, handle);
    const [first = ''] = await resettableEvents(lab, run);
    await resetTo(lab, run, first);
    const { handle: above } = await pay('usdt', '41', { order: TRON });
    await parkedFor(above, 'the total would be 101 usdt');
    await decideNow(above, 'refuse');
    expect((await handle.result({ timeoutMs: 60_000 })).outcome).toBe('completed');
    expect(executions(lab, orderId)).toBe(1);
  });
});

describe('sums that are lost or stopped', () => {
  test('count an order that is created while they are read again', async () => {
    limit('btc', '1');
    const order = { network: 'bitcoin', wallet: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' };
    let create = () => {};
    const isDue = new Promise<void>((resolve) => {
      create = resolve;
    });
    const { orderId, handle } = await pay('btc', '0.6', { marker: 'after_ms=60000', order });
    lab.gate.rule = async ({ path, body }) => {
      if (path.endsWith('/order/withdraw') && body.includes(orderId)) await isDue;
      if (!path.endsWith('/order/list') || JSON.parse(body).order_ids) return undefined;
      // The list is read right before this order exists.
      create();
      await vi.waitFor(async () => expect((await handle.state()).order).toBeTruthy(), 20_000);
      return listAnswer(body, []);
    };
    await vi.waitFor(() => expect(lab.gate.requests.some(({ body }) => body.includes(orderId))).toBe(true), 20_000);
    await lab.temporal.client.workflow.getHandle(SUMS.workflowId).terminate('lost');
    const { handle: above } = await pay('btc', '0.5', { order });
    await parkedFor(above, 'the total would be 1.1 btc');
    lab.gate.rule = () => undefined;
    await decideNow(above, 'refuse');
  });

  test('are read again after workers without rules have sent orders', async () => {
    limit('eth', '10');
    const order = { network: 'ethereum', wallet: '0x52908400098527886E0F7030069857D2E4169EE7' };
    const { handle: counted } = await pay('eth', '1', { order });
    expect((await counted.result()).outcome).toBe('completed');
    await lab.replaceWorkers({ policies: undefined });
    const { handle: uncounted } = await pay('eth', '6', { order });
    expect((await uncounted.result()).outcome).toBe('completed');
    await lab.replaceWorkers();
    const { handle: above } = await pay('eth', '4', { order });
    await parkedFor(above, 'the total would be 11 eth');
    await decideNow(above, 'refuse');
  });

  test('are not forgotten by a reset, after which Temporal repeats their updates', async () => {
    limit('trx', '1000');
    const run = await runOf(lab, SUMS);
    const before = await resettableEvents(lab, run);
    const { handle } = await pay('trx', '600', { order: TRON });
    expect((await handle.result()).outcome).toBe('completed');
    await resetTo(lab, run, before.at(-1) ?? '');
    const { handle: above } = await pay('trx', '401', { order: TRON });
    await parkedFor(above, 'the total would be 1001 trx');
    await decideNow(above, 'refuse');
  });

  test('count the amount that was asked for, before a loss and after it', async () => {
    // The client pays a commission out of it.
    limit('uah', '1000');
    const { handle } = await pay('uah', '600', { order: { network: 'card' } });
    expect((await handle.result()).outcome).toBe('completed');
    await lab.temporal.client.workflow.getHandle(SUMS.workflowId).terminate('lost');
    const { handle: above } = await pay('uah', '401', { order: { network: 'card' } });
    await parkedFor(above, 'the total would be 1001 uah');
    await decideNow(above, 'refuse');
  });
});

test('the ids of orders that the policy refused may be started again, and count then', async () => {
  limit('usd', '0.01');
  rules.splice(0, 9, { rule: 'sum', per: '30 days', currency: 'usd', max: '0.01', breach: 'refuse' });
  const { orderId, handle } = await pay('usd', '1.50');
  await expect(handle.result()).rejects.toThrow('the policy refuses it: usd per 30 days');
  limit('usd', '10000');
  const input = { order_id: orderId, currency: 'usd', network: 'card', amount: '1.50', wallet: '4111111111111111' };
  const again = await lab.orders.start('withdraw', { order: input, compensation: 'report' }, { again: true });
  expect((await again.result()).outcome).toBe('completed');
});

test('an approval of a sum covers no higher amount of the order, when rates move while it is stopped', async () => {
  limit('usd', '0');
  const order = { amount: undefined, amount_to: '95' };
  const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker: '', order });
  await parkedFor(handle, 'usd per day: the total would be 1');
  await stopAccount();
  await decideNow(handle, 'approve');
  await vi.waitFor(async () => expect((await handle.state()).waitingFor).toContain('stopped'), 30_000);
  lab.sandbox.set({ pairs: { 'exchange_withdraw usd-usdt_tron': { rate: '0.01' } } });
  await lab.orders.accounts.resume('default', BY);
  await parkedFor(handle, 'usd per day: the total would be 10');
  expect(executions(lab, orderId)).toBe(0);
  await decideNow(handle, 'refuse');
});
