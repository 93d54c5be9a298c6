import { expect, test } from 'vitest';
import { call, create, start } from './sandbox.fixture.js';

type RateEntry = { min_amount_from: string; max_amount_from: string | null; currency_from_precision: number };
type AllRates = Record<string, Record<string, RateEntry>>;

test('terms of a pair change while it runs, in rates and for new orders', async () => {
  const sandbox = await start();
  const pairs = { 'withdraw uah_card': { min: '2000', max: '1500', precisionFrom: 0 }, 'exchange usd-btc': null };
  sandbox.set({ pairs });
  const { withdraw, exchange, deposit } = (await call<AllRates>(sandbox, 'rates')).body.data;
  expect(withdraw?.uah_card).toMatchObject({ min_amount_from: '2000', max_amount_from: '1500' });
  expect(withdraw?.uah_card?.currency_from_precision).toBe(0);
  expect(exchange).not.toHaveProperty('usd-btc');
  expect(exchange).toHaveProperty('usd-eth');
  expect(deposit?.usd_card?.max_amount_from).toBe('100000');
  expect((await create(sandbox, 'withdraw', 'low')).body.errors).toHaveProperty('amount');
  expect((await create(sandbox, 'exchange', 'gone')).body.errors).toHaveProperty('currency');
  sandbox.set({ pairs: { 'withdraw uah_card': { max: null } } });
  expect((await create(sandbox, 'withdraw', 'high', { amount: 5_000_000 })).status).toBe(200);
});

test('who pays a commission changes while it runs, in rates and for new orders only', async () => {
  const sandbox = await start();
  const payerOf = async () =>
    (await call<Record<string, Record<string, unknown>>>(sandbox, 'rates')).body.data.withdraw?.uah_card;
  expect(await payerOf()).toMatchObject({ fee_percent_to_payer: 'client', fee_percent_from_payer: null });
  sandbox.set({ pairs: { 'withdraw uah_card': { payerTo: 'merchant', payerFrom: 'client' } } });
  expect(await payerOf()).toMatchObject({ fee_percent_to_payer: 'merchant', fee_percent_from_payer: null });
  const made = await create(sandbox, 'withdraw', 'apart', { amount: 40_000 });
  expect(made.body.data).toMatchObject({ expected_amount_to: '40000', amount_to_fee: '405' });
  sandbox.set({ pairs: {} });
  const later = await create(sandbox, 'withdraw', 'out-of-it', { amount: 40_000 });
  expect(later.body.data).toMatchObject({ expected_amount_to: '39595', amount_to_fee: '405' });
  expect(() => sandbox.set({ pairs: { 'withdraw uah_card': { payerTo: 'nobody' as never } } })).toThrow(RangeError);
});

test('a pair that does not exist is refused', async () => {
  const sandbox = await start();
  expect(() => sandbox.set({ pairs: { 'withdraw zzz_card': null } })).toThrow(RangeError);
});
