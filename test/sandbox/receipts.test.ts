import { expect, test } from 'vitest';
import type { DepositAddress, Receipt, Sandbox } from '../../sandbox/index.js';
import { startReceiver } from './receiver.fixture.js';
import { call, type Item, start, until } from './sandbox.fixture.js';

const USDT = { currency: 'usdt', network: 'tron' };
const FINAL = ['completed', 'completed_partially', 'canceled', 'error'];

const newAddress = async (sandbox: Sandbox, changes: object = {}): Promise<DepositAddress> =>
  (await call<DepositAddress>(sandbox, 'deposit_address/create', { ...USDT, ...changes })).body.data;

const allFinal = (sandbox: Sandbox, count: number) =>
  until(
    () => sandbox.orders(),
    (orders) => orders.length === count && orders.every(({ order }) => FINAL.includes(order.status)),
    10_000,
  );

test('500 receipts on 20 addresses over the admin port become 500 orders, each called back at its own address', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  const addresses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      newAddress(sandbox, { callback_url: `${url}/a${n}`, ...(n % 2 === 0 && { currency_to: 'usd' }) }),
    ),
  );
  const receipts = Array.from({ length: 500 }, (_, n) => ({
    addressUuid: addresses[n % 20]?.uuid,
    amount: `${10 + n}.25`,
    ...(n % 10 === 0 && { description: '[sandbox outcome=completed_partially fraction=0.3]' }),
  }));
  const answer = await fetch(`${sandbox.adminUrl}/receipts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(receipts),
  });
  expect(await answer.json()).toHaveLength(500);
  const orders = await allFinal(sandbox, 500);
  await until(
    () => received.length,
    (n) => n === 500,
  );
  const types = new Map(
    addresses.map(({ address, currency_to }) => [address, currency_to ? 'deposit_exchange' : 'deposit']),
  );
  for (const { order } of orders) expect(order.order_type).toBe(types.get(order.deposit_address ?? ''));
  expect(orders.filter(({ order }) => order.status === 'completed_partially')).toHaveLength(50);
  expect(new Set(orders.map(({ order }) => order.user_order_id)).size).toBe(500);
  const pathOf = new Map(addresses.map(({ address, callback_url }) => [address, new URL(callback_url ?? '').pathname]));
  for (const { path, body } of received) expect(path).toBe(pathOf.get(body.deposit_address ?? ''));
  const listed = (await call<DepositAddress[]>(sandbox, 'deposit_address/list')).body.data;
  expect(listed.map(({ total_received_deposits }) => total_received_deposits)).toEqual(Array(20).fill(25));
});

test.each([
  ['generated', /^rcv-[0-9a-f]{16}$/],
  ['empty', /^$/],
] as const)('receiptOrderId %s: user_order_id is like %s', async (receiptOrderId, pattern) => {
  const sandbox = await start({ settings: { receiptOrderId } });
  const { uuid } = await newAddress(sandbox);
  const made = [1, 2].map(() => sandbox.receiveDeposit({ addressUuid: uuid, amount: '10' }).order);
  for (const { user_order_id } of made) expect(user_order_id).toMatch(pattern);
  const statuses = await Promise.all(made.map(({ order_uuid }) => call(sandbox, 'order/status', { order_uuid })));
  expect(statuses.map(({ body }) => body.data.order_uuid)).toEqual(made.map(({ order_uuid }) => order_uuid));
  expect((await call<Item[]>(sandbox, 'order/list')).body.data).toHaveLength(2);
});

test.each([
  ['0.5', 'error', '0'],
  ['200000', 'error', '0'],
  ['0.5 [sandbox outcome=completed]', 'completed', null],
])('a receipt of %s, outside the limits, ends %s', async (given, status, credited) => {
  const sandbox = await start();
  const { uuid, total_received_amount } = await newAddress(sandbox);
  expect(total_received_amount).toBeNull();
  const [amount = '', ...description] = given.split(' ');
  sandbox.receiveDeposit({ addressUuid: uuid, amount, description: description.join(' ') });
  const [item] = await allFinal(sandbox, 1);
  expect(item?.order).toMatchObject({ status, expected_amount_from: amount });
  if (credited !== null) expect(item?.balance_changes).toEqual([]);
});

test('a receipt may come short or over: expected and actual amounts differ, and the address counts the actual one', async () => {
  const sandbox = await start();
  const { uuid } = await newAddress(sandbox);
  const receive = (words: string) =>
    sandbox.receiveDeposit({ addressUuid: uuid, amount: '100', description: `[sandbox ${words}]` });
  receive('paid=0.9');
  receive('paid=1.2');
  const orders = await allFinal(sandbox, 2);
  expect(orders.map(({ order }) => [order.expected_amount_from, order.amount_from])).toEqual([
    ['100', '90'],
    ['100', '120'],
  ]);
  expect(sandbox.addresses()[0]).toMatchObject({ total_received_amount: '210', total_received_deposits: 2 });
});

const BAD: [string, Partial<Receipt>][] = [
  ['no such deposit address', { addressUuid: 'none' }],
  ['precision', { amount: '1.0000001' }],
  ['decimal string', { amount: '1e3' }],
  ['greater than 0', { amount: '0' }],
  ['unknown sandbox marker', { description: '[sandbox lost=1]' }],
  ['unknown sandbox fault at list', { description: '[sandbox list=lost]' }],
];
test.each(BAD)('a bad receipt is refused: %s', async (reason, changes) => {
  const sandbox = await start();
  const { uuid } = await newAddress(sandbox);
  expect(() => sandbox.receiveDeposit({ addressUuid: uuid, amount: '10', ...changes })).toThrow(reason);
  expect(sandbox.orders()).toEqual([]);
});
