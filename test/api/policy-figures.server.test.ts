import { expect, test, vi } from 'vitest';
import { type Policy, Secret } from '../../src/config.js';
import { newOrderId, useLab } from '../support/lab.js';
import { apiKey, runApi } from './api.fixture.js';

const payeeKey = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const rules: Policy['rules'] = [
  { rule: 'paid-before', days: 7, breach: 'warn' },
  { rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' },
  { rule: 'sum', per: '30 days', currency: 'usd', max: '90', breach: 'refuse' },
];
const lab = useLab({ limits: { policies: new Map([['default', { rules, payeeKey }]]) } });

vi.setConfig({ testTimeout: 60_000 });

test('a dry run and a plan show the sums and payouts of other orders only to keys that may read', async () => {
  const keys = [apiKey('shop', { verbs: ['start'] }), apiKey('boss', { verbs: ['start', 'read'] })];
  const api = await runApi(lab.orders, { keys });
  const order = { order_id: newOrderId('paid'), currency: 'usd', network: 'card', amount: '77', wallet: CARD };
  const { status } = await api.call('POST', '/v1/orders?wait=20', { order_type: 'withdraw', order }, 'boss');
  expect(status).toBe(201);
  const texts = async (key: string) => {
    const next = { ...order, order_id: newOrderId('next') };
    const checked = await api.call('POST', '/v1/orders:check', { order_type: 'withdraw', order: next }, key);
    const planned = await api.call('POST', '/v1/batches:plan', { rows: [next] }, key);
    expect([checked.status, planned.status]).toEqual([200, 200]);
    return [JSON.stringify(checked.body), JSON.stringify(planned.body)];
  };
  const [checked, planned] = await texts('boss');
  expect(checked).toContain('paidBefore');
  for (const text of [checked, planned]) {
    expect(text).toContain('the total would be 154 usd');
    expect(text).toContain(`by ${order.order_id}`);
  }
  for (const text of await texts('shop')) {
    expect(text).toContain('the total would be … usd, and at most');
    expect(text).toContain('77 usd were paid to this payee"');
    for (const figure of ['154 usd', 'paidBefore', order.order_id]) expect(text).not.toContain(figure);
  }
});

const CARD = '4111111111111111';
