import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createApi } from '../../src/api/server.js';
import { checkOrderInput } from '../../src/client/checked-input.js';
import { InvalidInputError } from '../../src/client/errors.js';
import { PaymentOrders } from '../../src/client.js';
import type { FieldError } from '../../src/contract/failures.js';
import type { OrderType } from '../../src/contract/order/types.js';
import '../validation/order-fields.test.js';
import '../validation/order-input.test.js';
import { CATALOGUE } from '../validation/refusals.fixture.js';

/** Throws for every call: what is bad must not reach Temporal. */
const NO_CLIENT = new Proxy({}, { get: () => undefined }) as ConstructorParameters<typeof PaymentOrders>[0];

const api = createApi({
  host: '127.0.0.1',
  port: 0,
  orders: new PaymentOrders(NO_CLIENT),
  log: pino({ level: 'silent' }),
  requestsPerSecond: 1_000,
});

function refusedBy(type: OrderType, input: unknown): readonly FieldError[] {
  try {
    checkOrderInput(type, input);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.fields;
    throw error;
  }
}

test('every bad input of the catalogue is refused by the API with the fields of the library', async () => {
  let compared = 0;
  for (const { type, input } of CATALOGUE) {
    const text = JSON.stringify({ order_type: type, ...Object(input) }, (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    const { order_type: _, ...sent } = JSON.parse(text) as Record<string, unknown>;
    const expected = refusedBy(type, sent);
    // What JSON cannot say, such as undefined, is another input on the wire.
    if (expected.length === 0) continue;
    const headers = { host: 'localhost', 'content-type': 'application/json' };
    const answer = await api.inject({ method: 'POST', url: '/v1/orders', headers, payload: text });
    if (text.length > 128 * 1024) {
      expect(answer.statusCode).toBe(413);
      continue;
    }
    const { fields } = answer.json() as { fields: FieldError[] };
    expect(answer.statusCode, text.slice(0, 500)).toBe(422);
    const names = (errors: readonly FieldError[]) => errors.map(({ field }) => field).toSorted();
    expect(names(fields), text.slice(0, 500)).toEqual(names(expected));
    compared += 1;
  }
  expect(compared).toBeGreaterThan(150);
});
