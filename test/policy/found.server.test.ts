import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import { type Policy, Secret } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

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
