import { expect, test, vi } from 'vitest';
import type { Policy } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { useLab } from '../support/lab.js';
import { executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

const sumOf = (currency: string): PolicyRule => ({ rule: 'sum', per: 'day', currency, max: '100', breach: 'park' });
const policy: Policy = { rules: ['usd', 'eur', 'uah', 'usdt'].map(sumOf) };
const lab = useLab({
  limits: { policies: new Map([['default', policy]]) },
  pace: { settleWindowMs: { atOnce: 40_000, deposit: 600 } },
});
vi.setConfig({ testTimeout: 60_000 });

const TRON = { network: 'tron', wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };
const pay = (currency: string, amount: string, marker = '', order: object = {}) =>
  startSteered(lab, 'withdraw', { marker, compensation: 'report', order: { amount, currency, ...order } });

test.for([
  ['late', 'usd', 'list_lag_ms=30000'],
  ['unreadably', 'eur', 'list=malformed'],
] as const)('sums that are read again count an order that the list shows %s', async ([, currency, marker]) => {
  const { handle: paid } = await pay(currency, '80', marker);
  expect((await paid.result()).outcome).toBe('completed');
  await lab.temporal.client.workflow.getHandle('policy:default').terminate('lost');
  const { orderId, handle } = await pay(currency, '85');
  await parkedFor(handle, `the total would be 165 ${currency}`);
  expect(executions(lab, orderId)).toBe(0);
});

test('sums that are read again count a delayed order that no list shows', async () => {
  const delayed = { delay_order_for_minutes: 30 };
  const { handle: accepted } = await pay('uah', '80', 'list_lag_ms=60000', delayed);
  await vi.waitFor(async () => expect((await accepted.state()).order).toBeTruthy(), 20_000);
  await lab.temporal.client.workflow.getHandle('policy:default').terminate('lost');
  const { orderId, handle } = await pay('uah', '85');
  await parkedFor(handle, 'the total would be 165 uah');
  expect(executions(lab, orderId)).toBe(0);
});

test('sums that are read again when a run finds its order, which has ended, count it once', async () => {
  const hidden = 'create=500-after list_lag_ms=6000 status_lag_ms=6000';
  const { orderId, handle } = await pay('usdt', '40', hidden, TRON);
  await vi.waitFor(() => expect(executions(lab, orderId)).toBe(1), 20_000);
  await lab.temporal.client.workflow.getHandle('policy:default').terminate('lost');
  expect((await handle.result()).outcome).toBe('completed');
  const { handle: fits } = await pay('usdt', '50', '', TRON);
  expect((await fits.result()).outcome).toBe('completed');
});
