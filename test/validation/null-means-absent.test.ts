import { describe, expect, test } from 'vitest';
import { startDifferences } from '../../src/contract/differences/starts.js';
import { ORDER_TYPES, workflowTypeOf } from '../../src/contract/order/types.js';
import { checkedReconcileInput } from '../../src/contract/reconcile/input.js';
import { withoutNulls } from '../../src/contract/without-nulls.js';
import {
  addressListSchema,
  checkRequest,
  orderListSchema,
  orderStatusSchema,
} from '../../src/payment-service/queries.js';
import { validateBatchInput, validateScheduledBatchInput } from '../../src/validation/batch-input.js';
import { optionSchemas } from '../../src/validation/input-schemas.js';
import { validateOrderInput, validateReceivedInput } from '../../src/validation/order-input.js';
import { orderSchemas } from '../../src/validation/request-schemas.js';
import { orderInput } from '../support/inputs.js';

type Fields = Record<string, unknown>;

/** The same object with null for every field that it leaves out. */
const filledUp = (schemaKeys: readonly string[], given: object): Fields => ({
  ...Object.fromEntries(schemaKeys.map((key) => [key, null])),
  ...given,
});

describe.each(ORDER_TYPES)('%s', (type) => {
  const plain = orderInput(type, `${type.replaceAll('_', '-')}-1`);
  const order = filledUp(Object.keys(orderSchemas[type].shape), plain.order);
  const withNulls = filledUp(Object.keys(optionSchemas), { order });

  test('with null for everything optional is the input without it', () => {
    expect(validateOrderInput(type, withNulls)).toEqual({ input: plain });
  });

  test('with nulls attaches to a run without', () => {
    expect(startDifferences(type, withNulls as never, { workflowType: workflowTypeOf(type), input: plain })).toEqual(
      [],
    );
  });

  test.each(Object.keys(plain.order))('needs %s, and null is none', (field) => {
    expect(validateOrderInput(type, { order: { ...plain.order, [field]: null } })).toMatchObject({
      errors: expect.arrayContaining([
        { field: `order.${field}`, reason: expect.stringMatching(/required|exactly one/) },
      ]),
    });
  });
});

test('a batch, a schedule and a follower take null for what they may lack', () => {
  const { order } = orderInput('withdraw', 'w-1');
  const rows = [{ ...order, delay_order_for_minutes: null, wallet_memo: null }];
  const batch = { account: null, batchId: null, file: null, rows, startedBy: 'ann', stopAfter: { failures: null } };
  expect(validateBatchInput(batch)).toEqual({ input: { rows: [order], startedBy: 'ann', stopAfter: {} } });
  const schedule = {
    plan: 'p',
    timeZone: null,
    filePattern: '{period}.csv',
    batch: { startedBy: 'ann', resend: null },
  };
  expect(validateScheduledBatchInput(schedule)).toMatchObject({ input: { batch: { startedBy: 'ann' } } });
  expect(validateReceivedInput({ ref: 'r', order_uuid: 'u_1', compensation: null, revertTo: null })).toEqual({
    input: { ref: 'r', order_uuid: 'u_1' },
  });
  expect(
    checkedReconcileInput({ account: null, from: null, to: null, recover: null, openTooLongMs: null }, 1e12),
  ).toEqual(checkedReconcileInput({}, 1e12));
});

test.each([
  [orderListSchema, {}],
  [addressListSchema, {}],
  [orderStatusSchema, { order_id: 'o-1' }],
])('filters that are null are none', (schema, given) => {
  expect(checkRequest<unknown>(schema, filledUp(Object.keys(schema.shape), given))).toEqual(given);
});

test('recovered may not be null: without it the run would send', () => {
  const { order } = orderInput('withdraw', 'w-1');
  expect(validateOrderInput('withdraw', { order, recovered: null })).toHaveProperty('errors');
});

test('elements of lists, and what a recovered run was shown, stay as they are', () => {
  const input = { rows: [null, { a: null }], recovered: { listed: { wallet_to: null } }, followUpOf: { amount: null } };
  expect(withoutNulls(input)).toEqual({ ...input, rows: [null, {}] });
});
