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

const unknownKeys = { ...valid, ammount: '1', wallet_details: [{ amount: '1', wallet: 'w', cvv: '123' }] };
const poisoned: unknown = JSON.parse(JSON.stringify(valid).replace('{', '{"__proto__":{"x":1},'));

test.each<[title: string, errors: string[], value: unknown, prefix?: string]>([
  ['a valid object has none', [], valid],
  [
    'paths name objects by key and lists by index, below the prefix',
    ['order.wallet_details[1].amount expected string, received number'],
    { ...valid, wallet_details: [...Array(2).keys()].map((n) => ({ amount: n === 1 ? 1 : '1', wallet: 'w' })) },
    'order',
  ],
  [
    'every bad field is named at once',
    [
      ...['amount required', 'wallet_details required', 'kind Invalid option: expected one of "a"|"b"'],
      ...['either fits none of the allowed shapes', 'id required'],
    ],
    {},
  ],
  [
    'every unknown field gets an entry of its own',
    ['wallet_details[0].cvv unknown field', 'ammount unknown field'],
    unknownKeys,
  ],
  ['`__proto__` is an unknown field', ['__proto__ unknown field'], poisoned],
  ['no object at all is called input', ['input expected object, received null'], null],
  ['no object at all is called by the prefix', ['order expected object, received null'], null, 'order'],
  [
    'a card number or a line break used as key is masked',
    ['pan **** unknown field', 'a?b unknown field'],
    { ...valid, 'pan 4111111111111111': 1, 'a\nb': 1 },
  ],
])('%s', (_, errors, value, prefix) => {
  expect(errorsOf(value, prefix).map(({ field, reason }) => `${field} ${reason}`)).toEqual(errors);
});

test('no reason repeats the value', () => {
  const secret = 'DE89370400440532013000';
  const bad = { amount: secret, wallet_details: secret, kind: secret, either: 5, id: secret.slice(0, 2) };
  const text = JSON.stringify(errorsOf(bad));
  expect(text).not.toContain(secret.slice(0, 6));
  expect(text).toContain('must be a decimal string');
});
