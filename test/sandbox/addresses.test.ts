import { expect, test } from 'vitest';
import type { DepositAddress } from '../../sandbox/stored.js';
import { startReceiver } from './receiver.fixture.js';
import { call, start, until } from './sandbox.fixture.js';

const BTC = { currency: 'btc', network: 'bitcoin' };

test('an address is created with the limits of its pair', async () => {
  const sandbox = await start();
  const { body } = await call<DepositAddress>(sandbox, 'deposit_address/create', {
    ...BTC,
    client_info: { client_id: 'c1' },
  });
  expect(body).toMatchObject({
    status: 'success',
    data: {
      ...BTC,
      currency_to: null,
      client_id: 'c1',
      address_title: '',
      callback_url: null,
      min_amount: '0.00005',
      max_amount: '10',
      total_received_amount: null,
      total_received_deposits: null,
    },
  });
});

test('receipts on an address become orders, announced at the address callback url', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  const created = await call<DepositAddress>(sandbox, 'deposit_address/create', {
    ...BTC,
    currency_to: 'usd',
    callback_url: `${url}/address`,
    address_title: 'shop',
  });
  const { uuid: addressUuid, address } = created.body.data;
  const first = sandbox.receiveDeposit({ addressUuid, amount: '0.5' });
  expect(first.order).toMatchObject({
    order_type: 'deposit_exchange',
    status: 'processing',
    deposit_address: address,
    deposit_address_title: 'shop',
    deposit_address_initial_order_uuid: null,
  });
  const second = sandbox.receiveDeposit({ addressUuid, amount: '0.25' });
  expect(second.order.deposit_address_initial_order_uuid).toBe(first.order.order_uuid);
  await until(
    () => received.length,
    (n) => n === 2,
  );
  expect(received[0]).toMatchObject({
    path: '/address',
    body: { status: 'completed', order_type: 'deposit_exchange' },
  });
  const listed = await call<DepositAddress[]>(sandbox, 'deposit_address/list', BTC);
  expect(listed.body.data[0]).toMatchObject({ total_received_amount: '0.75', total_received_deposits: 2 });
});

test('a receipt without exchange is a deposit and may carry a marker', async () => {
  const sandbox = await start();
  const { body } = await call<DepositAddress>(sandbox, 'deposit_address/create', BTC);
  const receipt = {
    addressUuid: body.data.uuid,
    amount: '0.1',
    description: '[sandbox outcome=error stage=after-deposit]',
  };
  const { order } = sandbox.receiveDeposit(receipt);
  expect(order.order_type).toBe('deposit');
  const ended = await until(
    () => sandbox.orders()[0],
    (item) => item?.order.status === 'error',
  );
  expect(ended?.balance_changes.length).toBeGreaterThan(0);
});

test('the address list filters and pages', async () => {
  const sandbox = await start();
  for (const pair of [BTC, BTC, BTC, { currency: 'trx', network: 'tron' }]) {
    await call<DepositAddress>(sandbox, 'deposit_address/create', pair);
  }
  const list = async (query: object) =>
    (await call<DepositAddress[]>(sandbox, 'deposit_address/list', query)).body.data;
  const all = await list({});
  expect(all).toHaveLength(4);
  expect([...(await list({ limit: 3 })), ...(await list({ limit: 3, page: 2 }))]).toEqual(all);
  expect(await list({ network: 'tron' })).toHaveLength(1);
  expect(await list({ currency: 'btc', limit: 2 })).toHaveLength(2);
});
