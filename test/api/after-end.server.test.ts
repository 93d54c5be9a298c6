import { expect, test } from 'vitest';
import { useLab } from '../support/lab.js';
import { parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';
import { apiKey, runApi } from './api.fixture.js';

const lab = useLab({ pace: { settleWindowMs: { atOnce: 4_000, deposit: 600 } } });

test('an order that changed after its end keeps its result, and names the question', async () => {
  const { orderId, handle } = await startSteered(lab, 'exchange', { marker: 'callback=drop' });
  const { order } = await handle.result();
  lab.sandbox.turnOrder(order.order_uuid, 'canceled');
  await lab.sandbox.sendCallback(order.order_uuid);
  await parkedFor(lab.orders.order(orderId, { afterEnd: true }));
  const api = await runApi(lab.orders, { keys: [apiKey('reader', { verbs: ['read'] })] });
  const { body } = await api.call('GET', `/v1/orders/${orderId}`, undefined, 'reader');
  expect(body).toMatchObject({ outcome: 'completed', attentionAfterEnd: { code: 'changed-after-end' } });
});
