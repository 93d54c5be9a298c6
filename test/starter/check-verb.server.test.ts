import { expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';

const lab = useLab({ callbacks: false, limits: { caps: new Map([['usd', '1000']]) } });

const check = (input: object, ...more: string[]) =>
  runStarterWith(async () => lab.orders, ['order', 'check', 'withdraw', '-', ...more], JSON.stringify(input));

test('order check prints a short table and exits 0 if the order would be sent, otherwise 1 with the reasons', async () => {
  const input = orderInput('withdraw', newOrderId('check-verb'));
  const good = await check(input);
  expect(good.code).toBe(0);
  const rows = Object.fromEntries(good.stdout.split('\n').map((line) => line.split(/ {2,}/)));
  expect(rows).toMatchObject({
    'would be sent': 'yes',
    id: 'free; at the service: none',
    limits: '1 to 100000 usd',
    commission: '1.5 usd, paid by the merchant',
    leaves: '14 usd',
    arrives: '12.5 usd',
    balance: expect.stringMatching(/^\d+ → \d+ usd$/),
  });
  const above = await check({ ...input, order: { ...input.order, amount: '1000.01' } });
  expect(above.code).toBe(1);
  expect(above.stdout).toMatch(/would be sent +no\nbecause +it would wait for a person: 1000\.01 usd is above the cap/);
  const bad = await check({ ...input, order: { ...input.order, amount: 12.5, network: '' } }, '--json');
  expect(bad.code).toBe(1);
  const [report] = JSON.parse(bad.stdout).checks;
  expect(report.fields.map(({ field }: { field: string }) => field)).toEqual(['order.amount', 'order.network']);
  expect(lab.sandbox.requests().some(({ path }) => path === '/v2/order/withdraw')).toBe(false);
});
