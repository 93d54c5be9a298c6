import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldErrors } from '../../src/validation/field-errors.js';

const schema = z.strictObject({
  amount: z.string().regex(/^\d+$/, 'must be a decimal string'),
  wallet_details: z.array(z.strictObject({ amount: z.string(), wallet: z.string() })),
  kind: z.enum(['a', 'b']),
  either: z.union([z.string(), z.boolean()]),
  id: z.string().min(3),
});
const valid = { amount: '1', wallet_details: [], kind: 'a', either: 'x', id: 'abc' };

function errorsOf(value: unknown, prefix?: string) {
  const checked = schema.safeParse(value);
  return checked.error ? fieldErrors(checked.error, prefix) : [];
}

test('a valid object has none', () => {
  expect(errorsOf(valid)).toEqual([]);
});

test('paths name objects by key and lists by index, below the prefix', () => {
  const bad = {
    ...valid,
    wallet_details: [
      { amount: '1', wallet: 'w' },
      { amount: 1, wallet: 'w' },
    ],
  };
  expect(errorsOf(bad, 'order')).toEqual([
    { field: 'order.wallet_details[1].amount', reason: 'expected string, received number' },
  ]);
});

test('every bad field is named at once', () => {
  expect(errorsOf({}).map(({ field, reason }) => `${field} ${reason}`)).toEqual([
    'amount required',
    'wallet_details required',
    'kind Invalid option: expected one of "a"|"b"',
    'either fits none of the allowed shapes',
    'id required',
  ]);
});

test('every unknown field gets an entry of its own', () => {
  const bad = { ...valid, ammount: '1', orderId: 1, wallet_details: [{ amount: '1', wallet: 'w', cvv: '123' }] };
  expect(errorsOf(bad)).toEqual(
    expect.arrayContaining([
      { field: 'ammount', reason: 'unknown field' },
      { field: 'orderId', reason: 'unknown field' },
      { field: 'wallet_details[0].cvv', reason: 'unknown field' },
    ]),
  );
});

test('`__proto__` is an unknown field', () => {
  const bad: unknown = JSON.parse(JSON.stringify(valid).replace('{', '{"__proto__":{"x":1},'));
  expect(errorsOf(bad)).toEqual([{ field: '__proto__', reason: 'unknown field' }]);
});

test('something that is no object at all is called input, or by the prefix', () => {
  expect(errorsOf(null)).toEqual([{ field: 'input', reason: 'expected object, received null' }]);
  expect(errorsOf(null, 'order')).toEqual([{ field: 'order', reason: 'expected object, received null' }]);
});

test('no reason repeats the value', () => {
  const secret = 'DE89370400440532013000';
  const bad = { amount: secret, wallet_details: secret, kind: secret, either: 5, id: secret.slice(0, 2) };
  const text = JSON.stringify(errorsOf(bad));
  expect(text).not.toContain(secret.slice(0, 6));
  expect(text).toContain('must be a decimal string');
});

test('a card number or a line break used as key is masked', () => {
  const fields = errorsOf({ ...valid, 'pan 4111111111111111': 1, 'a\nb': 1 }).map(({ field }) => field);
  expect(fields).toEqual(['pan ****', 'a?b']);
});
