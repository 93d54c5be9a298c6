import { expect, test } from 'vitest';
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

const address = { currency: 'btc', network: 'bitcoin' };

test.each<[z.ZodType, object]>([
  [orderStatusSchema, { order_id: 'foreign id / 7' }],
  [orderStatusSchema, { order_uuid: 'a-b-1' }],
  [orderListSchema, { limit: 1, page: 1 }],
  [orderListSchema, { limit: 1000, page: 99 }],
  [orderListSchema, { date_from: '2026-01-01 00:00:00', date_to: '2026-01-01 00:00:00' }],
  [orderListSchema, { date_from: '2024-02-29 23:59:59' }],
  [orderListSchema, { order_ids: ['a', 'b'], order_type: 'withdraw', status: 'completed', network_to: 'bank_ua' }],
  [addressListSchema, { limit: 100, page: 1, currency: 'btc', network: 'bitcoin' }],
  [addressCreateSchema, { ...address, currency_to: 'usd', address_title: 'Shop 7' }],
  [addressCreateSchema, { ...address, client_info: { client_id: '7', client_ip: '2001:db8::1' } }],
])('a query that is fine: %#', (schema, query) => {
  expect(badFields(schema, query)).toEqual([]);
});

const OF_ORDER: [object | null, string[]][] = [
  [{}, ['order_id']],
  [{ order_id: 'a', order_uuid: 'b' }, ['order_id']],
  [{ order_id: '' }, ['order_id']],
  [{ order_id: 'a\nb' }, ['order_id']],
  [{ order_id: 5 }, ['order_id']],
  [{ order_uuid: '../x' }, ['order_uuid']],
  [{ order_id: 'a', orderId: 'a' }, ['orderId']],
  [null, ['input']],
];

const OF_LIST: [object, string[]][] = [
  [{ limit: 0 }, ['limit']],
  [{ limit: 1001 }, ['limit']],
  [{ limit: '10' }, ['limit']],
  [{ limit: 1.5 }, ['limit']],
  [{ page: 0 }, ['page']],
  [{ page: Number.NaN }, ['page']],
  [{ date_from: '2026-13-01 00:00:00' }, ['date_from']],
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
  [{ limit: 0, page: 0, lmit: 1 }, ['limit', 'lmit', 'page']],
];

const OF_ADDRESS: [object, string[]][] = [
  [{}, ['currency', 'network']],
  [{ ...address, callback_url: 'https://example.com' }, ['callback_url']],
  [{ ...address, address_title: 'a\r\nb' }, ['address_title']],
  [{ ...address, client_info: { client_ip: '999.1.1.1' } }, ['client_info.client_ip']],
  [{ ...address, client_info: { client_email: 'nobody' } }, ['client_info.client_email']],
  [{ ...address, client_info: { phone: '1' } }, ['client_info.phone']],
];

test.each([
  ...OF_ORDER.map((row) => [orderStatusSchema, ...row] as const),
  ...OF_LIST.map((row) => [orderListSchema, ...row] as const),
  [addressListSchema, { limit: 101 }, ['limit']] as const,
  ...OF_ADDRESS.map((row) => [addressCreateSchema, ...row] as const),
])('a query that is refused with its fields named: %#', (schema, query, fields) => {
  expect(badFields(schema, query).sort()).toEqual(fields);
});
