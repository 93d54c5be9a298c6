import { expect, test } from 'vitest';
import { type EchoedField, REQUEST_FIELDS } from '../../../src/contract/order/request.js';
import { FOLLOW_UP_TYPES, factsOf, isReceivedType, ORDER_TYPES } from '../../../src/contract/order/types.js';
import { orderSchemas } from '../../../src/validation/request-schemas.js';

const isEchoed = (field: string): field is EchoedField =>
  !['apart', 'none'].includes(REQUEST_FIELDS[field as keyof typeof REQUEST_FIELDS].echo);

test.each(ORDER_TYPES)('%s: every field that the service shows is compared with what it shows', (type) => {
  const compared = factsOf(type).echoes.map(([asked]) => asked);
  expect(compared.toSorted()).toEqual(Object.keys(orderSchemas[type].shape).filter(isEchoed).toSorted());
});

test('money moves at once in the types that begin on the balance, and follow-ups are of these alone', () => {
  expect(ORDER_TYPES.filter((type) => factsOf(type).movesMoneyAtOnce)).toEqual([
    'exchange',
    'exchange_withdraw',
    'withdraw',
  ]);
  expect(FOLLOW_UP_TYPES).toEqual(['exchange', 'exchange_withdraw', 'withdraw']);
});

test('a receipt makes a deposit, with or without exchange, and nothing else', () => {
  expect([...ORDER_TYPES, 'constructor', 'refund'].filter(isReceivedType)).toEqual(['deposit', 'deposit_exchange']);
});
