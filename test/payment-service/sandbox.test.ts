import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/index.js';
import type { CreateRequests } from '../../src/contract/order/request.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { createPaymentService } from '../../src/payment-service/client.js';
import { loadSigner } from '../../src/payment-service/signers.js';
import { WALLET } from './objects.fixture.js';

const CREATES: { [T in OrderType]: CreateRequests[T] } = {
  deposit: { order_id: 'p-1', currency: 'usd', network: 'card', amount: '25.50' },
  deposit_exchange: { order_id: 'p-2', currency_from: 'usd', network_from: 'card', amount: '50', currency_to: 'eur' },
  deposit_exchange_withdraw: {
    order_id: 'p-3',
    currency_from: 'usd',
    network_from: 'card',
    amount_to: '40.10',
    currency_to: 'eur',
    network_to: 'card',
    wallet: WALLET,
  },
  exchange: { order_id: 'p-4', currency_from: 'usd', currency_to: 'eth', amount: '50' },
  exchange_withdraw: {
    order_id: 'p-5',
    currency_from: 'usd',
    amount: '50',
    currency_to: 'eur',
    network_to: 'card',
    wallet: WALLET,
    delay_order_for_minutes: 1,
  },
  withdraw: {
    order_id: 'p-6',
    currency: 'usd',
    network: 'multiple_cards',
    amount: '30.30',
    wallet: WALLET,
    wallet_details: [
      { amount: '10.10', wallet: WALLET },
      { amount: '20.20', wallet: '5555555555554444' },
    ],
  },
};

test('all twelve operations work against the sandbox, which checks every signature', async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const { url: baseUrl, apiKey, apiSecret } = sandbox;
  const sign = await loadSigner('hmac-sha256');
  const service = createPaymentService({ baseUrl, apiKey, apiSecret, sign });

  for (const [type, request] of Object.entries(CREATES) as [OrderType, CreateRequests['deposit']][]) {
    const order = await service.createOrder(type, request);
    expect(order).toMatchObject({ order_type: type, user_order_id: request.order_id });
    const { order_uuid } = order;
    expect(await service.orderStatus({ order_uuid })).toMatchObject({ order: { order_uuid } });
  }
  expect(await service.orderStatus({ order_id: 'nobody' })).toEqual({ said: 'HTTP 400: order not found' });
  const listed = await service.listOrders({ order_ids: ['p-1', 'p-6', 'nobody'] });
  expect(listed.items.map(({ user_order_id }) => user_order_id).sort()).toEqual(['p-1', 'p-6']);
  let all = 0;
  for await (const page of service.allOrders({ limit: 4 })) all += page.items.length;
  expect(all).toBe(6);

  const address = await service.createDepositAddress({ currency: 'btc', network: 'bitcoin', address_title: 'Shop' });
  expect((await service.listDepositAddresses({ currency: 'btc' })).items).toEqual([address]);
  expect(Object.keys(await service.rates()).sort()).toEqual(Object.keys(CREATES).sort());
  expect((await service.balances()).usd).toMatchObject({ currency: 'usd', currency_precision: 2 });

  const intruder = createPaymentService({ baseUrl, apiKey, apiSecret: 'wrong', sign });
  await expect(intruder.balances()).rejects.toMatchObject({ code: 'unexpected_status' });
});
