import { describe, expect, test } from 'vitest';
import { MalformedResponseError } from '../../src/payment-service/errors.js';
import { readObject, readOrderIfAny, readPage } from '../../src/payment-service/responses.js';
import {
  depositAddressSchema,
  orderListItemSchema,
  orderSchema,
  ratesSchema,
} from '../../src/payment-service/schemas.js';
import { addressObject, orderObject, rateObject } from './objects.fixture.js';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const success = (data: unknown) => bytes({ status: 'success', data });
const readOrder = (changes: Record<string, unknown>) => readObject(orderSchema, success(orderObject(changes)));

describe('an order', () => {
  test('comes through with every documented field', () => {
    expect(readOrder({})).toEqual(orderObject());
  });

  test('loses fields that are not documented', () => {
    expect(readOrder({ surprise: 1, nested: { a: 1 } })).toEqual(orderObject());
  });

  test('may have a status, a type and an error code that nobody knows, and dates that are none', () => {
    const strange = { status: 'on_hold', order_type: 'swap', error_code: 'E-7' };
    const dates = { created_at: '0000-00-00 00:00:00', updated_at: '2026-02-30 00:00:00', finalized_at: '-0001-11-30' };
    expect(readOrder({ ...strange, ...dates })).toMatchObject({
      ...strange,
      ...{ created_at: '', updated_at: '', finalized_at: null },
    });
  });

  test.each([
    '2026-01-02T03:04:05',
    '2026-01-02T03:04:05.123456Z',
    '2026-01-02T03:04:05+05:30',
    '2026-01-02 03:04:05-0500',
  ])('has one form of a date: %s', (date) => {
    const dates = { created_at: date, updated_at: date, finalized_at: date, start_order_at: date };
    const read = readObject(orderListItemSchema, success({ ...orderObject(dates), balance_changes: [] }));
    expect(new Set(Object.keys(dates).map((field) => read[field as keyof typeof dates]))).toEqual(
      new Set(['2026-01-02 03:04:05']),
    );
  });

  test('keeps 18 decimals, and the amounts of its details as text', () => {
    const text = JSON.stringify(orderObject({ amount_to: '0.123456789012345678', wallet_to_details: 'HERE' }));
    const details = '[{"amount":0.123456789012345678,"wallet":"4111111111111111"}]';
    const order = readObject(orderSchema, bytes(`{"status":"success","data":${text.replace('"HERE"', details)}}`));
    expect(order.amount_to).toBe('0.123456789012345678');
    expect(order.wallet_to_details).toEqual([{ amount: '0.123456789012345678', wallet: '4111111111111111' }]);
  });

  test.each([
    ['amount_from', 'NaN', null],
    ['amount_to_fee', true, null],
    ['amount_to_fee', '0,17', null],
    ['amount_to_fee', '1'.repeat(101), null],
    ['amount_to', '1e100000', null],
    ['exchange_rate_actual', { rate: 1 }, null],
    ['strict_withdrawal_amount', 'yes', false],
    ['currency_to_precision', 2.5, -1],
  ])('whose %s is %j is an order all the same, and names that field', (field, value, read) => {
    const order = readOrder({ [field]: value });
    expect(order).toEqual({ ...orderObject({ [field]: read }), unreadable: [field] });
  });

  test('with several fields that cannot be read names each once', () => {
    const order = readOrder({ amount_from: 'x', amount_to_fee: 'y' });
    expect(order).toMatchObject({ unreadable: ['amount_from', 'amount_to_fee'] });
  });

  test('with details nested too deep for the next JSON writer is malformed', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 200; i += 1) deep = { deep };
    expect(() => readOrder({ wallet_to_details: deep })).toThrow(/data\.wallet_to_details: nested too deep/);
  });

  test('with `__proto__` as a key is an ordinary order', () => {
    const text = JSON.stringify(orderObject({ wallet_to_details: 'HERE' }));
    const poisoned = text
      .replace('{', '{"__proto__":{"status":"completed"},')
      .replace('"HERE"', '{"__proto__":{"x":1}}');
    const order = readObject(orderSchema, bytes(`{"status":"success","data":${poisoned}}`));
    expect(order).toEqual(orderObject({ wallet_to_details: {} }));
    expect(Object.getPrototypeOf(order)).toBe(Object.prototype);
  });
});

describe('an envelope', () => {
  test.each([
    ['is not JSON', 'oops'],
    ['is HTML', '<html><body>Sign in</body></html>'],
    ['is a list', []],
    ['is null', null],
    ['has no status', { data: orderObject() }],
    ['has another status', { status: 'error', data: orderObject() }],
    ['has a status of another case', { status: 'Success', data: orderObject() }],
    ['has no data', { status: 'success' }],
    ['has a list as data', { status: 'success', data: [orderObject()] }],
  ])('that %s is malformed', (_, body) => {
    expect(() => readObject(orderSchema, bytes(body))).toThrow(MalformedResponseError);
  });
});

describe('an order looked up', () => {
  test.each([
    ['another status', { status: 'error' }],
    ['another status with a message', { status: 'error', data: { message: 'not found' } }],
    ['another status and an empty list', { status: 'fail', data: [] }],
    ['null as data', { status: 'success', data: null }],
    ['an empty list as data', { status: 'success', data: [] }],
  ])('does not exist when the answer has %s', (_, body) => {
    expect(readOrderIfAny(bytes(body))).toBeUndefined();
  });

  test('is returned when it exists', () => {
    expect(readOrderIfAny(success(orderObject()))).toEqual(orderObject());
  });

  test.each([
    ['no data at all', { status: 'success' }],
    ['an empty object', { status: 'success', data: {} }],
    ['a list with something in it', { status: 'success', data: [orderObject()] }],
    ['an order under another status', { status: 'pending', data: orderObject() }],
    ['orders under another status', { status: 'error', data: [orderObject()] }],
    ['no envelope', []],
    ['no JSON', 'not found'],
  ])('is neither there nor absent when the answer has %s', (_, body) => {
    expect(() => readOrderIfAny(bytes(body))).toThrow(MalformedResponseError);
  });
});

describe('a page', () => {
  test('keeps its good items and reports each malformed one by index, without its values', () => {
    const bad = orderObject({ expected_amount_to: '4111,11', status: 4111111111111111 });
    const page = readPage(orderListItemSchema, success([orderObject(), bad, null, orderObject({ status: 'error' })]));
    expect(page.items.map(({ status }) => status)).toEqual(['new', 'error']);
    expect(page.malformed.map(({ index }) => index)).toEqual([1, 2]);
    expect(page.malformed[0]?.reason).toMatch(/^expected_amount_to: .*; status: /);
    expect(page.malformed[0]?.reason).not.toContain('4111');
    expect(page.total).toBe(4);
  });

  test('reads balance changes with their sign; none is an empty list', () => {
    const change = {
      currency: 'usd',
      amount_before: '10.00',
      amount_change: '-1.50',
      amount_after: '8.50',
      created_at: '2026-01-02 03:04:05',
    };
    const page = readPage(orderListItemSchema, success([orderObject({ balance_changes: [change] }), orderObject()]));
    expect(page.items.map(({ balance_changes }) => balance_changes)).toEqual([[change], []]);
  });

  test('of addresses reads addresses', () => {
    expect(readPage(depositAddressSchema, success([addressObject()])).items).toEqual([addressObject()]);
  });
});

describe('rates and balances', () => {
  test('rates are read by type and pair; other types are dropped', () => {
    const rates = { withdraw: { usd_card: rateObject() }, exchange: {}, swap: 'new' };
    expect(readObject(ratesSchema, success(rates))).toEqual({ withdraw: { usd_card: rateObject() }, exchange: {} });
  });
});
