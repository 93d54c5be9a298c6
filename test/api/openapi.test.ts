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
    'get /v1/accounts',
    'get /v1/accounts/{id}',
    'get /v1/addresses',
    'get /v1/balances',
    'get /v1/batches/{id}',
    'get /v1/batches/{id}/rejected',
    'get /v1/batches/{id}/report',
    'get /v1/batches/{id}/rows',
    'get /v1/books',
    'get /v1/events',
    'get /v1/orders',
    'get /v1/orders/{id}',
    'get /v1/rates',
    'post /v1/accounts/{id}/resume',
    'post /v1/accounts/{id}/stop',
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
    'post /v1/orders/{id}/hold',
    'post /v1/orders:check',
    'put /v1/batch-files/{sha256}/{part}',
  ]);
  const { schemas } = body.components as { schemas: Record<string, Shape> };
  const start = JSON.stringify(schemas.PostOrdersInput);
  for (const field of ['order_type', 'wallet_details', 'amount_to', 'compensation', 'again'])
    expect(start).toContain(field);
  const answers = JSON.stringify(schemas);
  for (const field of ['balanceAfter', 'remainder', 'deposit_address', 'decisions', 'progress'])
    expect(answers).toContain(`"${field}":{`);
});

type Operations = Record<string, Record<string, { operationId?: string; requestBody?: object; responses: object }>>;

test('each operation has an id of its own, and each JSON body a name, so that clients can be generated', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  const operations = Object.values(body.paths as Operations).flatMap((item) => Object.values(item));
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toContain('postOrdersByIdDecisions');
  expect(ids).toContain('getBatchesByIdRows');
  expect(new Set(ids.filter((id) => /^[a-z][A-Za-z0-9]+$/.test(id ?? ''))).size).toBe(operations.length);
  const bare = operations.flatMap(({ operationId, requestBody = {}, responses }) =>
    Object.values({ ...responses, requestBody } as Record<string, { content?: Record<string, { schema: Shape }> }>)
      .flatMap(({ content = {} }) => Object.entries(content))
      .filter(([type, { schema }]) => type.includes('json') && schema.type === 'object')
      .map(([type]) => `${operationId} ${type}`),
  );
  expect(bare).toEqual([]);
  const { schemas } = body.components as { schemas: Record<string, Shape> };
  for (const name of ['Problem', 'OrderBody', 'StartedOrder', 'BatchState', 'ShownOrder'])
    expect(schemas).toHaveProperty(name);
});

/** JSON Schema, as far as it says how a body looks. */
interface Shape {
  $ref?: string;
  type?: unknown;
  properties?: object;
  items?: Shape;
  additionalProperties?: Shape | boolean;
  anyOf?: Shape[];
}

/** Returns false for a schema that every body fits. */
function says(shape: Shape, named: Record<string, Shape>): boolean {
  const { $ref, type, properties = {}, items, additionalProperties, anyOf = [] } = shape;
  if ($ref) return says(named[$ref.split('/').at(-1) ?? ''] ?? {}, named);
  if (anyOf.length > 0) return anyOf.every((one) => says(one, named));
  if (type === 'array') return items !== undefined && says(items, named);
  if (type !== 'object') return type !== undefined;
  return Object.keys(properties).length > 0 || says(Object(additionalProperties), named);
}

test('every status of every operation has a schema that says how its body looks', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  type Responses = Record<string, { content?: Record<string, { schema?: Shape }> }>;
  const operations = Object.entries(body.paths as Record<string, Record<string, { responses: Responses }>>);
  const bare = operations.flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) => {
      const wanted = ['401', '403', '422', '429', '503', 'default'].filter((status) => !(status in responses));
      const unsaid = Object.entries(responses).filter(([, { content = {} }]) => {
        const [one] = Object.values(content);
        return !one?.schema || !says(one.schema, body.components.schemas);
      });
      return [...wanted, ...unsaid.map(([status]) => status)].map((status) => `${method} ${path} ${status}`);
    }),
  );
  expect(bare).toEqual([]);
});

test('the page shows every route, runs no script and loads nothing', async () => {
  const { status, headers, body } = await api.call('GET', '/docs');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(body).toContain('POST /v1/batches/{id}/resume');
  expect(body).not.toMatch(/<script|https?:\/\//);
});
