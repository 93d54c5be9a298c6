import { expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runApi } from './api.fixture.js';

const lab = useLab({ callbacks: false });

test('an order that no worker takes is answered 503, though Temporal still lists the ended workers', async () => {
  const { call } = await runApi(lab.orders);
  const start = (orderId: string, wait: number) =>
    call('POST', `/v1/orders?wait=${wait}`, { order_type: 'withdraw', ...orderInput('withdraw', orderId) });
  expect(await start(newOrderId('api-served'), 60)).toMatchObject({ status: 201 });
  await lab.stopWorkers();
  expect(await lab.orders.isServed()).toBe(true);
  const orderId = newOrderId('api-left');
  expect(await start(orderId, 0), 'a worker may still take it').toMatchObject({ status: 202 });
  const left = await start(orderId, 5);
  expect(left).toMatchObject({ status: 503, body: { code: 'noWorker' } });
  expect(left.body.detail).toContain('Repeat the same request, which is safe');
  await lab.startWorkers();
  expect(await start(orderId, 60)).toMatchObject({ status: 200, body: { attached: true } });
  expect(lab.requestsOf(orderId).filter((path) => path === '/v2/order/withdraw')).toHaveLength(1);
});
