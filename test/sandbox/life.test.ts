import { expect, test } from 'vitest';
import type { OrderObject } from '../../sandbox/stored.js';
import { BODIES, call, create, finalItem, type Rates, start, TYPES } from './sandbox.fixture.js';

for (const type of TYPES) {
  test(`a ${type} order starts as documented and completes`, async () => {
    const sandbox = await start();
    const created = await create(sandbox, type, `o-${type}`);
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      status: 'success',
      data: {
        order_type: type,
        user_order_id: `o-${type}`,
        status:
          ('currency_from' in BODIES[type] && !('network_from' in BODIES[type])) || type === 'withdraw'
            ? 'processing'
            : 'new',
        finalized_at: null,
        error_code: 0,
        error_message: '',
      },
    });
    const item = await finalItem(sandbox, `o-${type}`);
    expect(item.status).toBe('completed');
    const status = await call(sandbox, 'order/status', { order_uuid: created.body.data.order_uuid });
    const { balance_changes: _, ...order } = item;
    expect(status.body.data).toEqual({ ...order, client_info: {} });
    expect(sandbox.stats().executedByOrderId).toEqual({ [`o-${type}`]: 1 });
  });
}

test('rates and balances answer the empty object', async () => {
  const sandbox = await start();
  const rates = await call<Rates>(sandbox, 'rates');
  const balances = await call(sandbox, 'balances');
  expect(Object.keys(rates.body.data)).toHaveLength(6);
  expect(rates.body.data.withdraw?.uah_card).toMatchObject({
    currency_from: 'uah',
    network_from: null,
    network_to: 'card',
  });
  expect(balances.body.data).toMatchObject({ eth: { currency: 'eth', overdraft: '0', currency_precision: 18 } });
});

test('a marked order is final at its n-th look-up, by status or by list', async () => {
  const sandbox = await start();
  await create(sandbox, 'exchange', 'a', { description: '[sandbox after_ms=600000 after_looks=3]' });
  const statusOf = async () => (await call(sandbox, 'order/status', { order_id: 'a' })).body.data.status;
  expect(await statusOf()).toBe('processing');
  expect((await call<OrderObject[]>(sandbox, 'order/list', { order_ids: ['a'] })).body.data).toMatchObject([
    { status: 'processing' },
  ]);
  expect(await statusOf()).toBe('completed');
});
