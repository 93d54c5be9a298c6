import { expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runApi } from './api.fixture.js';

/** Long enough to look at an order whose refusal was answered and whose absence is not proven yet. */
const lab = useLab({ callbacks: false, pace: { settleWindowMs: { atOnce: 8_000, deposit: 600 } } });

test('a refusal is answered before the order ends: until then it is uncertain and is not started again', async () => {
  const { call } = await runApi(lab.orders);
  const id = newOrderId('api-refused');
  const body = { order_type: 'withdraw', ...orderInput('withdraw', id, { marker: 'create=400' }) };
  expect(await call('POST', '/v1/orders?wait=60', body)).toMatchObject({
    status: 422,
    body: { code: 'OrderRejected' },
  });
  const open = await call('GET', `/v1/orders/${id}`);
  expect(open).toMatchObject({ status: 200, body: { status: 'uncertain', state: { phase: 'uncertain' } } });
  const again = await call('POST', '/v1/orders', { ...body, again: true });
  expect(again).toMatchObject({ status: 409, body: { code: 'refused' } });
  await expect
    .poll(() => call('GET', `/v1/orders/${id}`), { timeout: 60_000 })
    .toMatchObject({ body: { failure: { code: 'OrderRejected' } } });
});
