import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EncryptionKey } from '../../../src/config.js';
import { isMalformed } from '../../../src/contract/service-objects.js';
import { orderObject } from '../../payment-service/objects.fixture.js';
import { type Lab, openLab } from '../../support/lab.js';

const KEY: EncryptionKey = { id: 'k1', key: createSecretKey(Buffer.alloc(32, 7)) };

/** An order list that answers every query with as many orders as it asks for, whose descriptions are this long. */
let descriptionLength = 60;
const service = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk;
  });
  request.on('end', () => {
    const { limit = 0 }: { limit?: number } = JSON.parse(body);
    const data = Array.from({ length: limit }, (_, index) => ordinaryOrder(index));
    response.end(JSON.stringify({ status: 'success', data }));
  });
});

/** A final payout with two balance changes, as the list shows it. */
function ordinaryOrder(index: number) {
  const change = {
    currency: 'usd',
    amount_before: '99989796.00',
    amount_change: '-100.00',
    amount_after: '99989696.00',
    created_at: '2026-11-22 10:42:27',
  };
  return orderObject({
    order_uuid: `0189cca4-fd61-4746-a1cd-${String(index).padStart(12, '0')}`,
    user_order_id: `payroll-2026-11-27-employee-${index}`,
    description: 'x'.repeat(descriptionLength),
    status: 'completed',
    balance_changes: [change, change],
  });
}

let lab: Lab;
beforeAll(async () => {
  await new Promise<void>((listening) => service.listen(0, '127.0.0.1', listening));
  const address = service.address();
  const port = typeof address === 'object' ? address?.port : 0;
  lab = await openLab({
    callbacks: false,
    serviceUrl: async () => `http://127.0.0.1:${port}`,
    encryptionKeys: [KEY],
  });
});
afterAll(async () => {
  await lab?.close();
  service.close();
});

test('a page of 1,000 ordinary orders comes through, encrypted', async () => {
  const rows = await lab.orders.orderList({ limit: 1000 });
  expect(rows).toHaveLength(1000);
  expect(rows.filter(isMalformed)).toEqual([]);
});

test('a page that no payload can carry says so at once, and what to ask for', async () => {
  descriptionLength = 2_000;
  const startedMs = Date.now();
  await expect(lab.orders.orderList({ limit: 1000 })).rejects.toMatchObject({
    name: 'InvalidInputError',
    fields: [{ field: 'query', reason: expect.stringMatching(/too large .*: ask for a smaller limit/) }],
  });
  expect(Date.now() - startedMs).toBeLessThan(30_000);
  expect(await lab.orders.orderList({ limit: 100 })).toHaveLength(100);
});
