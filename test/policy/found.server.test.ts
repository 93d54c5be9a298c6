import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import { OrderHandle } from '../../src/client/order-handle.js';
import { type Policy, Secret } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

const payeeKey = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const rules: PolicyRule[] = [];
const lab = useLab({
  limits: { policies: new Map<string, Policy>([['default', { rules, payeeKey }]]) },
  pace: { settleWindowMs: { atOnce: 3_000, deposit: 600 } },
  sandbox: { settings: { duplicateMode: 'c' } },
});
vi.setConfig({ testTimeout: 60_000 });

const pay = (order: Record<string, string>, marker = '') =>
  startSteered(lab, 'withdraw', { marker, compensation: 'report', order });

// First, because older orders would disprove that the list is complete.
test('an order that is shown after its run ended as refused counts', async () => {
  rules.splice(0, 9, { rule: 'sum', per: 'day', currency: 'usdt', max: '100', breach: 'park' });
  const order = { currency: 'usdt', network: 'tron', wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };
  lab.sandbox.set({ visibilityLagMs: 600_000 });
  const { orderId, handle } = await pay({ ...order, amount: '80' }, 'create=400-after callback=drop');
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const { handle: other } = await pay({ ...order, amount: '15' });
  lab.sandbox.set({ visibilityLagMs: 0 });
  expect((await other.result()).outcome).toBe('completed');
  const shown = lab.sandbox.orders().find((one) => one.order.user_order_id === orderId);
  await lab.sandbox.sendCallback(shown?.order.order_uuid ?? '');
  const workflowId = `after-end:order:default:${orderId}`;
  await parkedFor(new OrderHandle(lab.temporal.client, 'default', orderId, { workflowId }), 'OrderRejected');
  const { orderId: next, handle: above } = await pay({ ...order, amount: '85' });
  await parkedFor(above, 'the total would be 180 usdt');
  expect([orderId, next].map((id) => executions(lab, id))).toEqual([1, 0]);
});

test('an adopted order counts, also if a rule would have held it', async () => {
  rules.splice(
    0,
    9,
    { rule: 'sum', per: 'day', currency: 'eur', max: '100', breach: 'park' },
    { rule: 'tier', currency: 'eur', above: '50', approvers: 1 },
  );
  // The sums are read now, so no later reading finds the order.
  await (await pay({ amount: '1', currency: 'eur' })).handle.result();
  const input = orderInput('withdraw', newOrderId('adopted'));
  const order = { ...input.order, amount: '80', currency: 'eur' };
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', order as never);
  const adopted = await lab.orders.start('withdraw', { ...input, order } as never);
  expect(await adopted.result()).toMatchObject({ outcome: 'completed', adopted: true });
  const { orderId, handle } = await pay({ amount: '45', currency: 'eur' });
  await parkedFor(handle, 'the total would be 126 eur');
  expect(executions(lab, orderId)).toBe(0);
});

test('an order that was adopted otherwise counts for the payee that it paid', async () => {
  rules.splice(
    0,
    9,
    { rule: 'new-payee', currency: 'usd', above: '20', breach: 'park' },
    { rule: 'count', max: 1, breach: 'park' },
  );
  const [asked, paid] = ['4000056655665556', '5555555555554444'];
  const input = orderInput('withdraw', newOrderId('other'), { marker: 'create=500-before duplicate=c' });
  const order = { ...input.order, amount: '20', wallet: asked };
  const handle = await lab.orders.start('withdraw', { ...input, order } as never);
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 30_000);
  const other = { ...order, wallet: paid, description: null };
  const { order_uuid } = await (await serviceOf(lab.sandbox)).createOrder('withdraw', other as never);
  await parkedFor(handle, order_uuid);
  await decideNow(handle, 'adopt', { order_uuid, differences: ['wallet'] });
  expect((await handle.result()).outcome).toBe('completed');
  const { orderId: second, handle: again } = await pay({ amount: '15', currency: 'usd', wallet: paid });
  await parkedFor(again, 'the total would be 2 payouts');
  const { orderId: large, handle: first } = await pay({ amount: '5000', currency: 'usd', wallet: asked });
  await parkedFor(first, 'the payee was never paid before');
  expect([second, large].map((id) => executions(lab, id))).toEqual([0, 0]);
});
