import { expect, test } from 'vitest';
import type { OrderObject } from '../../sandbox/index.js';
import { call, create, finalItem, type Item, start, type Type } from './sandbox.fixture.js';

type Field = keyof OrderObject;

/** Nullability of created orders as the interface states it per type. Names are fields of the order object. */
interface Shape {
  filled: Field[];
  empty: Field[];
}

const ALL_DEPOSIT: Field[] = [
  'deposit_from_user',
  'deposit_url',
  'deposit_address',
  'deposit_memo',
  'deposit_address_title',
  'deposit_address_initial_order_uuid',
];
const ALL_WALLET_TO: Field[] = [
  'wallet_to',
  'wallet_memo_to',
  'wallet_to_details',
  'wallet_to_transactions',
  'withdraw_to_user',
];
const RATES: Field[] = ['exchange_rate_initial', 'exchange_rate_actual'];
const SHAPES: Record<Type, Shape> = {
  deposit: {
    filled: ['network_from', 'currency_to', 'network_to', 'amount_from_fee'],
    empty: [...ALL_WALLET_TO, 'amount_to_fee', 'blockchain_withdrawal_hash', ...RATES, 'start_order_at'],
  },
  deposit_exchange: {
    filled: ['network_from', 'amount_from_fee', ...RATES],
    empty: ['network_to', 'deposit_from_user', ...ALL_WALLET_TO, 'amount_to_fee', 'start_order_at'],
  },
  deposit_exchange_withdraw: {
    filled: ['network_from', 'network_to', 'wallet_to', 'amount_from_fee', 'amount_to_fee', ...RATES],
    empty: ['wallet_to_details', 'start_order_at'],
  },
  exchange: {
    filled: RATES,
    empty: [
      'network_from',
      'network_to',
      'wallet_from',
      ...ALL_WALLET_TO,
      ...ALL_DEPOSIT,
      'amount_from_fee',
      'amount_to_fee',
      'blockchain_deposit_hash',
      'blockchain_withdrawal_hash',
      'start_order_at',
    ],
  },
  exchange_withdraw: {
    filled: ['network_to', 'wallet_to', 'amount_to_fee', ...RATES],
    empty: ['network_from', ...ALL_DEPOSIT, 'blockchain_deposit_hash', 'amount_from_fee', 'start_order_at'],
  },
  withdraw: {
    filled: ['network_to', 'wallet_to', 'amount_to_fee'],
    empty: ['network_from', ...ALL_DEPOSIT, 'blockchain_deposit_hash', 'amount_from_fee', ...RATES, 'start_order_at'],
  },
};

function expectShape(order: OrderObject, { filled, empty }: Shape): void {
  for (const field of filled) expect(order[field], field).not.toBeNull();
  for (const field of empty) expect(order[field], field).toBeNull();
}

for (const [type, shape] of Object.entries(SHAPES) as [Type, Shape][]) {
  test(`a ${type} order fills and leaves empty what the interface says, created and completed`, async () => {
    const sandbox = await start();
    const created = (await create(sandbox, type, type)).body.data;
    expectShape(created, shape);
    expect(created.strict_withdrawal_amount).toBe(false);
    expect(Object.keys(created)).toHaveLength(42);
    expectShape(await finalItem(sandbox, type), shape);
  });
}

test('an order by amount_to is strict and pays exactly that', async () => {
  const sandbox = await start();
  const { body } = await create(sandbox, 'exchange_withdraw', 's', { amount: undefined, amount_to: 0.05 });
  expect(body.data).toMatchObject({ strict_withdrawal_amount: true, expected_amount_to: '0.05' });
  expect(await finalItem(sandbox, 's')).toMatchObject({
    amount_to: '0.05',
    amount_from: body.data.expected_amount_from,
  });
});

test('a delay fills start_order_at and is kept, scaled', async () => {
  const sandbox = await start({ timeScale: 0.005 });
  const beganMs = Date.now();
  const { body } = await create(sandbox, 'withdraw', 'later', { delay_order_for_minutes: 2 });
  expect(body.data.start_order_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  await finalItem(sandbox, 'later');
  expect(Date.now() - beganMs).toBeGreaterThanOrEqual(600);
});

test('the list filters, pages and keeps its order', async () => {
  const sandbox = await start({ timeScale: 100 });
  for (let n = 0; n < 5; n += 1) await create(sandbox, 'withdraw', `w${n}`, { client_info: { client_id: 'c' } });
  await create(sandbox, 'exchange', 'x');
  const list = async (query: object) => (await call<Item[]>(sandbox, 'order/list', query)).body.data;
  const all = await list({});
  expect(all).toHaveLength(6);
  expect(all.every((item) => !Object.hasOwn(item, 'client_info') && Array.isArray(item.balance_changes))).toBe(true);
  const pages = [await list({ limit: 4 }), await list({ limit: 4, page: 2 }), await list({ limit: 4, page: 3 })];
  expect(pages.flat()).toEqual(all);
  const idsOf = async (query: object) => (await list(query)).map((item) => item.user_order_id).sort();
  expect(await idsOf({ order_ids: ['w1', 'x', 'none'] })).toEqual(['w1', 'x']);
  expect(await idsOf({ order_id: 'w2' })).toEqual(['w2']);
  expect(await idsOf({ order_type: 'exchange' })).toEqual(['x']);
  expect(await idsOf({ currency_to: 'btc', status: 'processing' })).toEqual(['x']);
  expect(await idsOf({ network_to: 'card', status: 'completed' })).toEqual([]);
  expect(await idsOf({ date_from: '2100-01-01 00:00:00' })).toEqual([]);
  expect(await idsOf({ date_to: '2100-01-01 00:00:00', currency_from: 'usd' })).toEqual(['x']);
});
