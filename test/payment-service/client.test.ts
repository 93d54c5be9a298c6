import { createHmac } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { describe, expect, test } from 'vitest';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { createPaymentService } from '../../src/payment-service/client.js';
import { Limiter } from '../../src/payment-service/limiter.js';
import { loadSigner } from '../../src/payment-service/signers.js';
import { TLS_CERTIFICATE, TLS_KEY } from './certificates.fixture.js';
import { addressObject, orderObject, rateObject, withdrawRequest } from './objects.fixture.js';
import { API_KEY, API_SECRET, answer, clientFor, listen, SIGNATURE, startServer } from './server.fixture.js';

describe('every operation posts to its path', () => {
  const balance = {
    currency: 'usd',
    wallet_uuid: 'w',
    amount: '1',
    overdraft: '0',
    updated_at: '2026-01-02 03:04:05',
    currency_precision: 2,
  };

  test.each(ORDER_TYPES)('create %s', async (type) => {
    const { baseUrl, received } = await startServer((response) => answer(response, orderObject({ order_type: type })));
    // The body of each type is checked elsewhere; here it is the path that counts.
    const order = await clientFor(baseUrl).createOrder(type, withdrawRequest() as never);
    expect(order.order_type).toBe(type);
    expect(received).toMatchObject([{ method: 'POST', path: `/v2/order/${type}` }]);
  });

  test('status, lists, addresses, rates and balances', async () => {
    const data: Record<string, unknown> = {
      '/v2/order/status': orderObject(),
      '/v2/order/list': [orderObject({ balance_changes: [] })],
      '/v2/deposit_address/create': addressObject(),
      '/v2/deposit_address/list': [addressObject()],
      '/v2/rates': { withdraw: { usd_card: rateObject() } },
      '/v2/balances': { usd: balance },
    };
    const { baseUrl, received } = await startServer((response, { path }) => answer(response, data[path]));
    const service = clientFor(baseUrl);
    expect(await service.orderStatus({ order_id: 'w-1' })).toMatchObject({ order: orderObject() });
    expect((await service.orders().page({ order_ids: ['w-1'] })).items).toHaveLength(1);
    expect(await service.createDepositAddress({ currency: 'btc', network: 'bitcoin' })).toEqual(addressObject());
    expect((await service.addresses().page({})).items).toEqual([addressObject()]);
    expect(await service.rates()).toEqual({ withdraw: { usd_card: rateObject() } });
    expect(await service.balances()).toEqual({ usd: balance });
    expect(received.map(({ path, body }) => [path, body.toString()])).toEqual([
      ['/v2/order/status', '{"order_id":"w-1"}'],
      ['/v2/order/list', '{"date_from":"2000-01-01 00:00:00","order_ids":["w-1"]}'],
      ['/v2/deposit_address/create', '{"currency":"btc","network":"bitcoin"}'],
      ['/v2/deposit_address/list', '{}'],
      ['/v2/rates', '{}'],
      ['/v2/balances', '{}'],
    ]);
  });

  test('below a path prefix of the base URL', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, {}));
    await clientFor(`${baseUrl}/api/`).rates();
    expect(received[0]?.path).toBe('/api/v2/rates');
  });
});

test('exactly the documented headers are sent, and what HTTP itself needs', async () => {
  const { baseUrl, received } = await startServer((response) => answer(response, orderObject()));
  await clientFor(baseUrl).createOrder('withdraw', withdrawRequest());
  const [request] = received;
  expect(Object.fromEntries(request?.headers ?? [])).toEqual({
    'content-type': 'application/json',
    accept: 'application/json; charset=utf-8',
    'api-key': API_KEY,
    signature: SIGNATURE,
    'user-agent': 'payment-orders',
    host: new URL(baseUrl).host,
    'content-length': String(request?.body.length),
    connection: 'close',
  });
  expect(request?.headers).toHaveLength(8);
});

test.each(['sha256', 'sha512'])('hmac-%s signs the very bytes that arrive', async (algorithm) => {
  const { baseUrl, received } = await startServer((response) => answer(response, orderObject()));
  const service = clientFor(baseUrl, { sign: await loadSigner(`hmac-${algorithm}`) });
  await service.createOrder('withdraw', withdrawRequest({ description: 'Zażółć €', amount: '0.10' }));
  const [request] = received;
  const expected = createHmac(algorithm, API_SECRET)
    .update(request?.body ?? '')
    .digest('hex');
  expect(Object.fromEntries(request?.headers ?? []).signature).toBe(expected);
});

test('https works with a trusted certificate', async () => {
  const server = createHttpsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, (_, response) => answer(response, {}));
  const baseUrl = `https://localhost:${await listen(server)}`;
  expect(await clientFor(baseUrl, { caCertificates: TLS_CERTIFICATE }).rates()).toEqual({});
});

test('every request has a connection of its own', async () => {
  const ports = new Set<number | undefined>();
  const { baseUrl } = await startServer((response, _, { socket }) => {
    ports.add(socket.remotePort);
    answer(response, {});
  });
  const service = clientFor(baseUrl);
  await service.rates();
  await service.rates();
  expect(ports.size).toBe(2);
});

describe('beforeSend', () => {
  test('runs once, after signing and before anything arrives', async () => {
    const events: string[] = [];
    const { baseUrl } = await startServer((response) => {
      events.push('arrived');
      answer(response, orderObject());
    });
    const sign = () => {
      events.push('signed');
      return SIGNATURE;
    };
    const beforeSend = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      events.push('before send');
    };
    await clientFor(baseUrl, { sign }).createOrder('withdraw', withdrawRequest(), { beforeSend });
    expect(events).toEqual(['signed', 'before send', 'arrived']);
  });

  test('that throws keeps the request from being sent; its error comes out unchanged', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, orderObject()));
    const tooLate = new RangeError('too late');
    const beforeSend = () => Promise.reject(tooLate);
    const creating = clientFor(baseUrl).createOrder('withdraw', withdrawRequest(), { beforeSend });
    await expect(creating).rejects.toBe(tooLate);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(received).toEqual([]);
  });

  test('takes no time from the answer', async () => {
    const { baseUrl } = await startServer((response) => void setTimeout(() => answer(response, orderObject()), 600));
    const beforeSend = () => new Promise<void>((resolve) => setTimeout(resolve, 600));
    const creating = clientFor(baseUrl).createOrder('withdraw', withdrawRequest(), { beforeSend, timeoutMs: 1_000 });
    await expect(creating).resolves.toMatchObject({ status: expect.any(String) });
  });

  test('that outlasts the time limit sends nothing either', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, orderObject()));
    const beforeSend = () => new Promise<void>((resolve) => setTimeout(resolve, 80));
    const creating = clientFor(baseUrl).createOrder('withdraw', withdrawRequest(), { beforeSend, timeoutMs: 40 });
    await expect(creating).rejects.toMatchObject({ code: 'not_sent', reason: 'timeout' });
    expect(received).toEqual([]);
  });
});

describe('the rate limit', () => {
  test('lets a caller give up while waiting, and nothing is sent', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, {}));
    const service = clientFor(baseUrl, { limiter: new Limiter(1) });
    await service.rates();
    const givingUp = service.rates({ signal: AbortSignal.timeout(30) });
    await expect(givingUp).rejects.toMatchObject({ code: 'not_sent', reason: 'aborted' });
    expect(received).toHaveLength(1);
  });
});

describe('options that can never work are refused without repeating them', () => {
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: API_KEY, apiSecret: API_SECRET, sign: () => SIGNATURE };

  test.each([
    ['baseUrl', { baseUrl: 'pay.example.com' }],
    ['baseUrl', { baseUrl: 'ftp://pay.example.com' }],
    ['baseUrl', { baseUrl: 'https://user:hidden@pay.example.com' }],
    ['baseUrl', { baseUrl: 'https://pay.example.com/?token=hidden' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: 'hidden\nkey' }],
    ['apiSecret', { apiSecret: '' }],
  ])('%s %j', (name, changes) => {
    expect(() => createPaymentService({ ...options, ...changes })).toThrow(new RegExp(`^${name}`));
    expect(() => createPaymentService({ ...options, ...changes })).not.toThrow(/hidden/);
  });
});

test('bad queries are refused naming the field, and nothing is sent', async () => {
  const { baseUrl, received } = await startServer((response) => answer(response, []));
  const service = clientFor(baseUrl);
  await expect(service.orderStatus({} as never)).rejects.toThrow(/exactly one of order_id, order_uuid/);
  await expect(service.orders().page({ order_ids: [] })).rejects.toThrow(/order_ids/);
  await expect(service.addresses().page({ limit: 101 })).rejects.toThrow(/limit/);
  await expect(service.createOrder('withdraw', withdrawRequest({ amount: '1e5' }))).rejects.toThrow(/amount/);
  expect(received).toEqual([]);
});
