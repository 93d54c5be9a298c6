import { expect, test } from 'vitest';
import { BODIES, call, create, headersFor, start, type Type } from './sandbox.fixture.js';

test('a request without a right key and signature is refused with 401 and executes nothing', async () => {
  const sandbox = await start();
  const body = JSON.stringify({ order_id: 'unsigned', ...BODIES.withdraw });
  const good = headersFor(sandbox, body);
  const wrong: Record<string, string>[] = [
    { Signature: '' },
    { Signature: good.Signature.toUpperCase() },
    { Signature: headersFor(sandbox, `${body} `).Signature },
    { Signature: headersFor(sandbox, body, 'sha512').Signature },
    { Signature: headersFor({ ...sandbox, apiSecret: 'other' }, body).Signature },
    { 'Api-key': 'other' },
    { 'Api-key': '' },
  ];
  for (const headers of wrong) expect((await call(sandbox, 'order/withdraw', body, headers)).status).toBe(401);
  expect(sandbox.stats()).toMatchObject({ createsByOrderId: {}, executedByOrderId: {} });
  expect((await call(sandbox, 'order/withdraw', body)).status).toBe(200);
});

test('the other signer wants HMAC-SHA512', async () => {
  const sandbox = await start({ signer: 'hmac-sha512', apiSecret: 's3cret' });
  expect((await call(sandbox, 'rates')).status).toBe(401);
  expect((await call(sandbox, 'rates', '{}', headersFor(sandbox, '{}', 'sha512'))).status).toBe(200);
});

test('the documented content headers are required', async () => {
  const sandbox = await start();
  expect((await call(sandbox, 'rates', {}, { Accept: 'application/json' })).body.errors).toHaveProperty('Accept');
  expect((await call(sandbox, 'rates', {}, { 'Content-Type': 'text/plain' })).body.errors).toHaveProperty(
    'Content-Type',
  );
  expect((await call(sandbox, 'other')).status).toBe(404);
});

const CREATE_CASES: [Type, Record<string, unknown> | string, string][] = [
  ['deposit', { ammount: 5 }, 'ammount'],
  ['deposit', { amount: '100' }, 'amount'],
  ['deposit', { amount: 0 }, 'amount'],
  ['deposit', { amount: -1 }, 'amount'],
  ['deposit', { amount: 1.234 }, 'amount'],
  ['deposit', { amount: 0.5 }, 'amount'],
  ['deposit', { amount: 100_000.01 }, 'amount'],
  ['deposit', { amount: undefined }, 'amount'],
  ['deposit', { amount_to: 5 }, 'amount_to'],
  ['deposit', { order_id: undefined }, 'order_id'],
  ['deposit', { order_id: '' }, 'order_id'],
  ['deposit', { order_id: 5 }, 'order_id'],
  ['deposit', { network: 'bitcoin' }, 'currency'],
  ['deposit', { currency: 'USD' }, 'currency'],
  ['deposit', { delay_order_for_minutes: 1 }, 'delay_order_for_minutes'],
  ['deposit', { client_info: { phone: '1' } }, 'client_info.phone'],
  ['deposit_exchange', { wallet: 'x' }, 'wallet'],
  ['deposit_exchange_withdraw', { amount_to: 5 }, 'amount'],
  ['deposit_exchange_withdraw', { amount: undefined }, 'amount'],
  ['deposit_exchange_withdraw', { wallet: undefined }, 'wallet'],
  ['exchange', { currency_to: 'usd' }, 'currency'],
  ['exchange', { network_to: 'card' }, 'network_to'],
  ['exchange_withdraw', { amount: undefined, amount_to: '5' }, 'amount_to'],
  ['withdraw', { delay_order_for_minutes: 1.5 }, 'delay_order_for_minutes'],
  ['withdraw', { delay_order_for_minutes: '5' }, 'delay_order_for_minutes'],
  ['withdraw', { wallet_details: { bank_code: '1' } }, 'wallet_details'],
  ['withdraw', { currency: 'usd', network: 'bank', wallet_details: { bank_code: 5 } }, 'wallet_details.bank_code'],
  ['withdraw', { currency: 'usd', network: 'bank', wallet_details: { bank_code: '5', x: '' } }, 'wallet_details.x'],
  ['withdraw', { currency: 'eur', network: 'sepa', wallet_details: { bank_code: '5' } }, 'wallet_details.bank_code'],
  ['withdraw', { network: 'multiple_cards' }, 'wallet_details'],
  ['withdraw', { network: 'multiple_cards', wallet_details: [] }, 'wallet_details'],
  ['withdraw', { network: 'multiple_cards', wallet_details: [{ amount: 999.99, wallet: '1' }] }, 'wallet_details'],
  ['withdraw', { description: '[sandbox outcom=error]' }, 'description'],
  ['withdraw', { description: '[sandbox create=no-such-fault]' }, 'description'],
  ['withdraw', { description: '[sandbox outcome=lost]' }, 'description'],
  ['withdraw', '{"order_id":"bad","currency":"uah"', 'body'],
  ['withdraw', '[]', 'body'],
];

test.each(CREATE_CASES)('%s with %j is refused naming %s', async (type, changes, field) => {
  const sandbox = await start();
  const reply =
    typeof changes === 'string'
      ? await call(sandbox, `order/${type}`, changes)
      : await create(sandbox, type, 'bad', changes);
  expect(reply.status).toBe(400);
  expect(Object.keys(reply.body.errors)).toContain(field);
  expect(sandbox.orders()).toEqual([]);
});

test('amounts with an exponent are refused: they are no plain decimals', async () => {
  const sandbox = await start();
  const body = '{"order_id":"e","currency":"usd","network":"card","amount":1e2}';
  expect((await call(sandbox, 'order/deposit', body)).status).toBe(400);
});

test('card amounts that add up exactly are accepted', async () => {
  const sandbox = await start();
  const cards = '[{"amount":100.1,"wallet":"4111111111111111"},{"amount":100.2,"wallet":"5555555555554444"}]';
  const body = `{"order_id":"cards","currency":"uah","network":"multiple_cards","wallet":"-","amount":300.3,"wallet_details":${cards}}`;
  expect((await call(sandbox, 'order/withdraw', body.replace('300.3', '200.3'))).body.data.wallet_to_details).toEqual([
    { amount: '100.1', wallet: '4111111111111111' },
    { amount: '100.2', wallet: '5555555555554444' },
  ]);
  expect((await call(sandbox, 'order/withdraw', body.replace('cards"', 'more"'))).status).toBe(400);
});

test.each([
  ['order/status', {}],
  ['order/status', { order_id: 'a', order_uuid: 'b' }],
  ['order/status', { order_id: 5 }],
  ['order/list', { limit: 0 }],
  ['order/list', { limit: 1001 }],
  ['order/list', { limit: '10' }],
  ['order/list', { page: 0 }],
  ['order/list', { page: 1.5 }],
  ['order/list', { date_from: '2026-02-30 00:00:00' }],
  ['order/list', { date_to: '2026-02-03T00:00:00' }],
  ['order/list', { order_ids: 'a' }],
  ['order/list', { order_type: 'payout' }],
  ['order/list', { state: 'new' }],
  ['deposit_address/list', { limit: 101 }],
  ['deposit_address/create', { currency: 'usd', network: 'card' }],
  ['deposit_address/create', { currency: 'btc' }],
  ['rates', { a: 1 }],
  ['balances', '[]'],
])('%s with %j is refused', async (path, body) => {
  const sandbox = await start();
  expect((await call(sandbox, path, body)).status).toBe(400);
});
