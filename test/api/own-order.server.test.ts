import { expect, test, vi } from 'vitest';
import type { Policy } from '../../src/config.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { apiKey, runApi } from './api.fixture.js';

const policies = new Map<string, Policy>([
  ['default', { rules: [{ rule: 'tier', currency: 'usd', above: '1', approvers: 1 }] }],
]);
const lab = useLab({ limits: { policies } });
vi.setConfig({ testTimeout: 60_000 });

test('a key may not approve the breach of its own order', async () => {
  const api = await runApi(lab.orders, {
    keys: [apiKey('ann', { verbs: ['start', 'decide', 'read'], accounts: ['default'] })],
  });
  const id = newOrderId('own');
  const { order } = orderInput('withdraw', id);
  await api.call('POST', '/v1/orders?wait=0', { order_type: 'withdraw', order, compensation: 'report' }, 'ann');
  const handle = lab.orders.order(id);
  const { revision } = await parkedFor(handle, 'above 1 usd', 20_000);
  const said = await api.call(
    'POST',
    `/v1/orders/${id}/decisions`,
    { action: 'approve', reason: 'x', revision },
    'ann',
  );
  expect(JSON.stringify(said.body)).toContain('started this order, so somebody else must approve it');
});
