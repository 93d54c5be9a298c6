import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { InvalidRequestError } from '../../src/payment-service/errors.js';
import {
  addressCreateSchema,
  addressListSchema,
  checkRequest,
  orderListSchema,
  orderStatusSchema,
} from '../../src/payment-service/queries.js';

function badFields(schema: z.ZodType, request: unknown): string[] {
  try {
    checkRequest(schema, request);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return error.errors.map(({ field }) => field);
  }
}

describe('order status', () => {
  test.each([{ order_id: 'w-1' }, { order_id: 'foreign id / 7' }, { order_uuid: 'a-b-1' }])('%j is fine', (query) => {
    expect(badFields(orderStatusSchema, query)).toEqual([]);
  });

  test.each([
    [{}, ['order_id']],
    [{ order_id: 'a', order_uuid: 'b' }, ['order_id']],
    [{ order_id: '' }, ['order_id']],
    [{ order_id: 'a\nb' }, ['order_id']],
    [{ order_id: 5 }, ['order_id']],
    [{ order_uuid: '../x' }, ['order_uuid']],
    [{ order_id: 'a', orderId: 'a' }, ['orderId']],
    [null, ['input']],
  ])('%j is refused naming %j', (query, fields) => {
    expect(badFields(orderStatusSchema, query)).toEqual(fields);
  });
});

describe('order list', () => {
  test.each([
    {},
    { limit: 1, page: 1 },
    { limit: 1000, page: 99 },
    { date_from: '2026-01-01 00:00:00', date_to: '2026-01-01 00:00:00' },
    { date_from: '2024-02-29 23:59:59' },
    { order_ids: ['a', 'b'], order_type: 'withdraw', status: 'completed', currency_from: 'usd', network_to: 'bank_ua' },
  ])('%j is fine', (query) => {
    expect(badFields(orderListSchema, query)).toEqual([]);
  });

  test.each([
    [{ limit: 0 }, ['limit']],
    [{ limit: 1001 }, ['limit']],
    [{ limit: '10' }, ['limit']],
    [{ limit: 1.5 }, ['limit']],
    [{ page: 0 }, ['page']],
    [{ page: -1 }, ['page']],
    [{ page: Number.NaN }, ['page']],
    [{ date_from: '2026-13-01 00:00:00' }, ['date_from']],
    [{ date_from: '2026-02-30 00:00:00' }, ['date_from']],
    [{ date_from: '2025-02-29 00:00:00' }, ['date_from']],
    [{ date_to: '2026-01-01 24:00:00' }, ['date_to']],
    [{ date_to: '2026-01-01T00:00:00' }, ['date_to']],
    [{ date_to: '2026-01-01' }, ['date_to']],
    [{ date_from: '2026-01-02 00:00:00', date_to: '2026-01-01 00:00:00' }, ['date_from']],
    [{ order_ids: [] }, ['order_ids']],
    [{ order_ids: ['a', 'a'] }, ['order_ids']],
    [{ order_ids: Array.from({ length: 1001 }, (_, i) => `o-${i}`) }, ['order_ids']],
    [{ order_ids: ['a', 7] }, ['order_ids[1]']],
    [{ order_type: 'Withdraw' }, ['order_type']],
    [{ currency_from: 'USD' }, ['currency_from']],
    [{ network_from: 'a b' }, ['network_from']],
    [{ limit: 0, page: 0, lmit: 1 }, ['limit', 'page', 'lmit']],
  ])('%j is refused naming %j', (query, fields) => {
    expect(badFields(orderListSchema, query).sort()).toEqual([...fields].sort());
  });
});

test('the address list has at most 100 per page', () => {
  expect(badFields(addressListSchema, { limit: 100, page: 1, currency: 'btc', network: 'bitcoin' })).toEqual([]);
  expect(badFields(addressListSchema, { limit: 101 })).toEqual(['limit']);
});

describe('address creation', () => {
  const address = { currency: 'btc', network: 'bitcoin' };

  test.each([
    address,
    {
      ...address,
      currency_to: 'usd',
      address_title: 'Shop 7',
      client_info: { client_id: '7', client_ip: '2001:db8::1' },
    },
    { ...address, client_info: { client_email: 'a@example.com' } },
  ])('%j is fine', (request) => {
    expect(badFields(addressCreateSchema, request)).toEqual([]);
  });

  test.each([
    [{}, ['currency', 'network']],
    [{ ...address, callback_url: 'https://example.com' }, ['callback_url']],
    [{ ...address, address_title: 'a\r\nb' }, ['address_title']],
    [{ ...address, client_info: { client_ip: '999.1.1.1' } }, ['client_info.client_ip']],
    [{ ...address, client_info: { client_email: 'nobody' } }, ['client_info.client_email']],
    [{ ...address, client_info: { phone: '1' } }, ['client_info.phone']],
  ])('%j is refused naming %j', (request, fields) => {
    expect(badFields(addressCreateSchema, request)).toEqual(fields);
  });
});
