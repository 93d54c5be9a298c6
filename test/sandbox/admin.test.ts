import { expect, test } from 'vitest';
import { startReceiver } from './receiver.fixture.js';
import { call, create, finalItem, start } from './sandbox.fixture.js';

const get = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
};
const send = async (method: string, url: string, body: unknown) => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};

test('the admin port shows counters, orders and ledger', async () => {
  const sandbox = await start();
  await create(sandbox, 'exchange', 'a');
  await finalItem(sandbox, 'a');
  const { body } = await get(`${sandbox.adminUrl}/state`);
  expect(body).toMatchObject({ createsByOrderId: { a: 1 }, executedByOrderId: { a: 1 }, redirectHits: 0 });
  expect(body).toMatchObject({ requestsByPath: { '/v2/order/exchange': 1 } });
  expect((await get(`${sandbox.adminUrl}/orders`)).body).toEqual(JSON.parse(JSON.stringify(sandbox.orders())));
  expect((await get(`${sandbox.adminUrl}/orders/a`)).body).toMatchObject([{ order: { user_order_id: 'a' } }]);
  expect((await get(`${sandbox.adminUrl}/orders/b`)).status).toBe(404);
  expect((await get(`${sandbox.adminUrl}/ledger`)).body).toMatchObject({ usd: '99999750' });
});

test('settings change while it runs, in part, and wrong ones are refused', async () => {
  const sandbox = await start();
  const url = `${sandbox.adminUrl}/settings`;
  const change = { duplicateMode: 'd', callbacks: { lostRate: 0.5 }, balances: { usd: '7' } };
  expect((await send('PUT', url, change)).status).toBe(200);
  expect((await get(url)).body).toMatchObject({ duplicateMode: 'd', callbacks: { enabled: true, lostRate: 0.5 } });
  expect((await call(sandbox, 'balances')).body.data).toMatchObject({ usd: { amount: '7' } });
  expect(await send('PUT', url, { duplicateMode: 'z' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('duplicateMode') },
  });
});

test('orders are removed and callbacks sent over the admin port', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start({ timeScale: 1000 });
  const { order_uuid: uuid } = (await create(sandbox, 'withdraw', 'w', { callback_url: url })).body.data;
  expect(await send('POST', `${sandbox.adminUrl}/callbacks/${uuid}`, {})).toEqual({
    status: 200,
    body: { status: 200 },
  });
  expect(received[0]?.body).toMatchObject({ user_order_id: 'w', status: 'processing' });
  const remove = await fetch(`${sandbox.adminUrl}/orders/${uuid}`, { method: 'DELETE' });
  expect(await remove.json()).toMatchObject({ order: { order_uuid: uuid }, removed: true });
  expect((await call(sandbox, 'order/status', { order_id: 'w' })).status).toBe(400);
  expect((await get(`${sandbox.adminUrl}/orders/w`)).body).toMatchObject([{ removed: true }]);
  for (const [method, path] of [
    ['DELETE', 'orders'],
    ['POST', 'callbacks'],
  ]) {
    expect((await fetch(`${sandbox.adminUrl}/${path}/none`, { method })).status).toBe(400);
  }
});

test('requests are told since a time, and all open orders finished, over the admin port', async () => {
  const sandbox = await start();
  await create(sandbox, 'exchange', 'a', { description: '[sandbox after_ms=600000]' });
  const [first] = sandbox.requests();
  expect((await get(`${sandbox.adminUrl}/requests`)).body).toMatchObject([
    { path: '/v2/order/exchange', orderId: 'a' },
  ]);
  expect((await get(`${sandbox.adminUrl}/requests?sinceMs=${(first?.atMs ?? 0) + 1}`)).body).toEqual([]);
  expect((await call(sandbox, 'order/status', { order_id: 'a' })).body.data).toMatchObject({ status: 'processing' });
  expect((await send('POST', `${sandbox.adminUrl}/finish`, {})).status).toBe(200);
  expect((await call(sandbox, 'order/status', { order_id: 'a' })).body.data).toMatchObject({ status: 'completed' });
});
