import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { PaymentOrders } from '../../src/client.js';
import { runApi } from './api.fixture.js';

const api = await runApi({} as PaymentOrders);

test('the document is OpenAPI 3.1 for a public validator, and names every route', async () => {
  const { status, body } = await api.call('GET', '/openapi.json');
  expect(status).toBe(200);
  const validator = new Validator();
  expect(await validator.validate(structuredClone(body))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const routes = Object.entries(body.paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  );
  expect(routes.toSorted()).toEqual([
    'get /v1/addresses',
    'get /v1/balances',
    'get /v1/batches/{id}',
    'get /v1/batches/{id}/rejected',
    'get /v1/batches/{id}/report',
    'get /v1/batches/{id}/rows',
    'get /v1/events',
    'get /v1/orders',
    'get /v1/orders/{id}',
    'get /v1/rates',
    'post /v1/addresses',
    'post /v1/batches',
    'post /v1/batches/{id}/approve',
    'post /v1/batches/{id}/pause',
    'post /v1/batches/{id}/resume',
    'post /v1/batches/{id}/stop',
    'post /v1/batches:plan',
    'post /v1/orders',
    'post /v1/orders/{id}/cancel',
    'post /v1/orders/{id}/decisions',
    'post /v1/orders:check',
    'put /v1/batch-files/{sha256}/{part}',
  ]);
  const start = JSON.stringify(body.paths['/v1/orders'].post.requestBody);
  for (const field of ['order_type', 'wallet_details', 'amount_to', 'compensation', 'again'])
    expect(start).toContain(field);
  const answers = JSON.stringify(Object.values(body.paths as Record<string, { responses?: object }>));
  for (const field of ['balanceAfter', 'remainder', 'deposit_address', 'decisions', 'progress'])
    expect(answers).toContain(`"${field}":{`);
});

test('the page shows every route, runs no script and loads nothing', async () => {
  const { status, headers, body } = await api.call('GET', '/docs');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(body).toContain('POST /v1/batches/{id}/resume');
  expect(body).not.toMatch(/<script|https?:\/\//);
});
