import { expect, test, vi } from 'vitest';
import { type Policy, Secret } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { apiKey, runApi } from '../api/api.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { decideNow, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';
import { detailsOf } from '../workflows/order/details.fixture.js';

const rules: PolicyRule[] = [
  { rule: 'paid-before', days: 7, breach: 'warn' },
  { rule: 'tier', currency: 'usd', above: '100', approvers: 1 },
];
const payeeKey = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const policies = new Map<string, Policy>([['default', { rules, payeeKey }]]);
const lab = useLab({ limits: { policies, caps: new Map([['eur', '50']]) } });

vi.setConfig({ testTimeout: 120_000 });

const ANN = { by: 'ann', reason: 'is the payee right?' };
const pay = (amount: string, currency = 'usd') =>
  startSteered(lab, 'withdraw', { marker: '', compensation: 'report', order: { amount, currency } });

/** What a page says of an earlier payout. */
const named = (orderId: string, amount: string) =>
  `paid before: ${amount} were paid to this payee on ${new Date().toISOString().slice(0, 10)} by ${orderId}; check first whether it is the same payment`;

test.for([
  ['policy', '100.5', 'usd'],
  ['over-cap', '50.5', 'eur'],
] as const)(
  'the page of %s names a payout of the same payee and amount by another order',
  async ([code, amount, currency]) => {
    const { orderId, handle: first } = await pay(amount, currency);
    await parkedFor(first);
    expect(await detailsOf(lab, first)).not.toContain('paid before');
    await decideNow(first, 'approve');
    expect((await first.result()).outcome).toBe('completed');
    const { handle } = await pay(amount, currency);
    const { attention } = await parkedFor(handle);
    expect(attention?.code).toBe(code);
    const page = await detailsOf(lab, handle);
    expect(page).toContain(named(orderId, `${amount} ${currency}`));
    expect(page).not.toContain('41111111');
    expect(page).toContain('*Request Cancellation*');
    const shown = await runStarterWith(async () => lab.orders, ['order', 'show', handle.orderId]);
    const api = await runApi(lab.orders, { keys: [apiKey('reader', { verbs: ['read'] })] });
    const { body } = await api.call('GET', `/v1/orders/${handle.orderId}`, undefined, 'reader');
    const input = { code, action: 'approve', ...ANN } as const;
    const planned = async () => (await lab.orders.planDecisions(input)).orders.map(({ orderId: id }) => id);
    await expect.poll(planned, { timeout: 20_000 }).toContain(handle.orderId);
    const all = [
      ...['order', 'decide', '--all', '--code', code, '--action', 'approve'],
      '--by',
      'ann',
      '--reason',
      'ok',
    ];
    const listed = await runStarterWith(async () => lab.orders, all);
    for (const text of [shown.stdout, JSON.stringify(body), listed.stdout]) {
      expect(text).toContain(named(orderId, `${amount} ${currency}`));
    }
  },
);

test('so does the page of an order that is held while its account is stopped, and an unlike order has none', async () => {
  const { orderId, handle: paid } = await pay('7.5');
  expect((await paid.result()).outcome).toBe('completed');
  await lab.orders.accounts.stop('default', ANN);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const [same, unlike] = await Promise.all([pay('7.5'), pay('7.6')]);
  await vi.waitFor(async () => {
    for (const { handle } of [same, unlike]) expect((await handle.state()).waitingFor).toContain('is stopped');
  }, 20_000);
  await Promise.all([same, unlike].map(({ handle }) => handle.hold(ANN)));
  await lab.orders.accounts.resume('default', ANN);
  await Promise.all([same, unlike].map(({ handle }) => parkedFor(handle, 'held by ann')));
  expect(await detailsOf(lab, same.handle)).toContain(named(orderId, '7.5 usd'));
  expect(await detailsOf(lab, unlike.handle)).not.toContain('paid before');
});

test('a page names until when an order may be sent, and what to do later', async () => {
  const latestSend = new Date(Date.now() + 3_600_000).toISOString();
  const input = orderInput('withdraw', newOrderId('until'), {});
  const handle = await lab.orders.start('withdraw', { ...input, latestSend, order: { ...input.order, amount: '101' } });
  await parkedFor(handle, 'is above 100 usd');
  const shown = `**Latest send**: ${latestSend.slice(0, 19).replace('T', ' ')} UTC. Later, nothing is sent`;
  expect(await detailsOf(lab, handle)).toContain(shown);
});
