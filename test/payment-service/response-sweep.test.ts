import { LosslessNumber, stringify } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { readObject } from '../../src/payment-service/responses.js';
import {
  balancesSchema,
  depositAddressSchema,
  orderListItemSchema,
  orderSchema,
  ratesSchema,
} from '../../src/payment-service/schemas.js';
import { addressObject, balanceObject, orderObject, rateObject } from './objects.fixture.js';

/**
 * What becomes of every field of every answer for each of the shapes in which services write what they have not, or have
 * otherwise: read as the value given, or REFUSED, which costs the item. A change of any of them has to be made here.
 */

const ABSENT = Symbol('absent');
const REFUSED = 'refused';

/** As it stands in the answer; numbers are JSON numbers. */
const SHAPES = {
  null: null,
  absent: ABSENT,
  '""': '',
  '7': new LosslessNumber('7'),
  '"7"': '7',
  '"+7.50"': '+7.50',
  '[]': [],
  '{}': {},
  true: true,
  '{"a":1}': { a: new LosslessNumber('1') },
};

type Row = Record<keyof typeof SHAPES, unknown>;
const row = (...[nothing, absent, blank, number, digits, signed, list, object, flag, full]: unknown[]): Row => ({
  null: nothing,
  absent,
  '""': blank,
  '7': number,
  '"7"': digits,
  '"+7.50"': signed,
  '[]': list,
  '{}': object,
  true: flag,
  '{"a":1}': full,
});
const X = REFUSED;
/** Left out, and named in `unreadable`: the order is read all the same. */
const U = 'unreadable';

//                     null  absent ""     7    "7"   "+7.50"  []    {}    true   {"a":1}
const WORD = row(X, X, X, X, '7', '+7.50', X, X, X, X);
const UUID = row(X, X, X, X, '7', X, X, X, X, X);
const TEXT = row(null, null, '', '7', '7', '+7.50', null, null, 'true', '{"a":"1"}');
const WORD_OR_NULL = { ...TEXT, '""': null };
const TEXT_OR_EMPTY = row('', '', '', '7', '7', '+7.50', '', '', 'true', '{"a":"1"}');
const DATE_OR_NULL = row(null, null, null, null, null, null, null, null, null, null);
const DATE_OR_EMPTY = row('', '', '', '', '', '', '', '', '', '');
const AMOUNT = row(X, X, X, '7', '7', '7.50', X, X, X, X);
const AMOUNT_OR_NULL = row(null, null, null, '7', '7', '7.50', null, null, X, X);
const INTEGER = row(X, X, X, 7, 7, X, X, X, X, X);
const INTEGER_OR_NULL = row(null, null, null, 7, 7, X, null, null, X, X);
const FIGURE = { ...AMOUNT_OR_NULL, true: U, '{"a":1}': U };
const FIGURE_OF_ITEM = { ...FIGURE, '[]': U, '{}': U };
const PRECISION = row(-1, -1, -1, 7, 7, U, -1, -1, U, U);
const FLAG = row(false, false, false, U, U, U, false, false, true, U);
const ANYTHING = row(null, null, '', '7', '7', '+7.50', [], {}, true, { a: '1' });
const ERROR_CODE = row(0, 0, 0, 7, 7, '+7.50', 0, 0, 'true', '{"a":"1"}');
const CLIENT_INFO = row(null, null, null, null, null, null, null, null, null, null);
const CHANGES = row([], [], [], U, U, U, [], [], U, U);

const ORDER: Record<string, Row> = {
  order_uuid: UUID,
  order_type: WORD,
  user_order_id: TEXT_OR_EMPTY,
  description: TEXT,
  expected_amount_from: AMOUNT,
  amount_from: FIGURE,
  currency_from: WORD,
  network_from: WORD_OR_NULL,
  deposit_from_user: TEXT,
  wallet_from: TEXT,
  wallet_memo_from: TEXT,
  expected_amount_to: AMOUNT,
  amount_to: FIGURE,
  strict_withdrawal_amount: FLAG,
  currency_to: WORD,
  network_to: WORD_OR_NULL,
  withdraw_to_user: TEXT,
  wallet_to: TEXT,
  wallet_memo_to: TEXT,
  wallet_to_details: ANYTHING,
  wallet_to_transactions: ANYTHING,
  amount_from_fee: FIGURE,
  amount_to_fee: FIGURE,
  deposit_url: TEXT,
  deposit_address: WORD_OR_NULL,
  deposit_memo: TEXT,
  deposit_address_title: TEXT,
  deposit_address_initial_order_uuid: TEXT,
  blockchain_deposit_hash: WORD_OR_NULL,
  blockchain_withdrawal_hash: WORD_OR_NULL,
  exchange_rate_initial: FIGURE,
  exchange_rate_actual: FIGURE,
  client_info: CLIENT_INFO,
  status: WORD,
  error_code: ERROR_CODE,
  error_message: TEXT,
  created_at: DATE_OR_EMPTY,
  updated_at: DATE_OR_EMPTY,
  finalized_at: DATE_OR_NULL,
  start_order_at: DATE_OR_NULL,
  currency_from_precision: PRECISION,
  currency_to_precision: PRECISION,
};

const CHANGE: Record<string, Row> = {
  currency: WORD,
  amount_before: AMOUNT,
  amount_change: AMOUNT,
  amount_after: AMOUNT,
  created_at: DATE_OR_EMPTY,
};

const ADDRESS: Record<string, Row> = {
  uuid: WORD,
  client_id: TEXT,
  currency: WORD,
  network: WORD,
  currency_to: WORD_OR_NULL,
  address_title: TEXT_OR_EMPTY,
  address: WORD,
  memo: TEXT,
  callback_url: TEXT,
  created_at: DATE_OR_EMPTY,
  min_amount: AMOUNT_OR_NULL,
  max_amount: AMOUNT_OR_NULL,
  total_received_amount: AMOUNT_OR_NULL,
  total_received_deposits: INTEGER_OR_NULL,
};

const RATE: Record<string, Row> = {
  order_type: WORD,
  currency_from: WORD,
  network_from: WORD_OR_NULL,
  currency_to: WORD,
  network_to: WORD_OR_NULL,
  exchange_rate: AMOUNT_OR_NULL,
  min_amount_from: AMOUNT,
  max_amount_from: AMOUNT_OR_NULL,
  fixed_fee_amount_from: AMOUNT_OR_NULL,
  fixed_fee_amount_to: AMOUNT_OR_NULL,
  fee_percent_from: AMOUNT_OR_NULL,
  fee_percent_to: AMOUNT_OR_NULL,
  min_fee_amount_from: AMOUNT_OR_NULL,
  min_fee_amount_to: AMOUNT_OR_NULL,
  fee_percent_from_payer: WORD_OR_NULL,
  fee_percent_to_payer: WORD_OR_NULL,
  currency_from_precision: INTEGER,
  currency_to_precision: INTEGER,
};

const BALANCE: Record<string, Row> = {
  currency: WORD,
  wallet_uuid: WORD,
  amount: AMOUNT,
  overdraft: AMOUNT,
  updated_at: DATE_OR_EMPTY,
  currency_precision: { ...PRECISION, '"+7.50"': X, true: X, '{"a":1}': X },
};

const change = {
  currency: 'usd',
  amount_before: '10.00',
  amount_change: '-1.50',
  amount_after: '8.50',
  created_at: '2026-01-02 03:04:05',
};

const answer = (data: unknown) => Buffer.from(stringify({ status: 'success', data }) ?? '');

/** What a field of an object comes out as, given how the object is read. */
type ReadField = (object: Record<string, unknown>) => Record<string, unknown>;

/** Replaces one field of `object` by a shape and reads it. */
function outcomeOf(object: Record<string, unknown>, field: string, shape: unknown, read: ReadField): unknown {
  const { [field]: _, ...others } = object;
  try {
    const found = read(shape === ABSENT ? others : { ...others, [field]: shape });
    // A balance change that cannot be read makes the list of them unreadable.
    if (found === undefined) return REFUSED;
    return [found.unreadable, found.empty].flat().includes(field) ? U : found[field];
  } catch (error) {
    expect(String(error)).toContain(field);
    return REFUSED;
  }
}

/** The whole row of a field: what each shape becomes. */
const rowOf = (object: Record<string, unknown>, field: string, read: ReadField): Row =>
  Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => [name, outcomeOf(object, field, shape, read)]),
  ) as Row;

const asObject = (read: unknown) => read as Record<string, unknown>;

/** One bad entry stands as `{malformed}` in its place. */
function entry(found: unknown): Record<string, unknown> {
  const read = asObject(found);
  if ('malformed' in read) throw new Error(String(read.malformed));
  return read;
}

describe.each<[name: string, table: Record<string, Row>, object: Record<string, unknown>, read: ReadField]>([
  ['an order', ORDER, orderObject(), (order) => asObject(readObject(orderSchema, answer(order)))],
  [
    'an order of the list',
    {
      ...ORDER,
      amount_from: FIGURE_OF_ITEM,
      amount_to: FIGURE_OF_ITEM,
      amount_from_fee: FIGURE_OF_ITEM,
      amount_to_fee: FIGURE_OF_ITEM,
      balance_changes: CHANGES,
    },
    orderObject({ balance_changes: [change] }),
    (order) => asObject(readObject(orderListItemSchema, answer(order))),
  ],
  [
    'a balance change',
    CHANGE,
    change,
    (one) =>
      asObject(readObject(orderListItemSchema, answer(orderObject({ balance_changes: [one] }))).balance_changes[0]),
  ],
  ['an address', ADDRESS, addressObject(), (address) => asObject(readObject(depositAddressSchema, answer(address)))],
  [
    'a rate',
    RATE,
    rateObject(),
    (rate) => entry(readObject(ratesSchema, answer({ withdraw: { usd_card: rate } })).withdraw?.usd_card),
  ],
  ['a balance', BALANCE, balanceObject('w'), (usd) => entry(readObject(balancesSchema, answer({ usd })).usd)],
])('%s', (_, table, object, read) => {
  test('has a row for each of its fields', () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(object).sort());
  });

  test.each(Object.entries(table))('%s is read or refused, by shape', (field, expected) => {
    expect(rowOf(object, field, read)).toEqual(expected);
  });
});

describe('numbers', () => {
  test.each([
    ['1', true],
    ['0', false],
  ])('%s is the flag %s', (token, expected) => {
    const strict = orderObject({ strict_withdrawal_amount: new LosslessNumber(token) });
    expect(readObject(orderSchema, answer(strict)).strict_withdrawal_amount).toBe(expected);
  });

  test.each([
    ['0.123456789012345678', '0.123456789012345678'],
    ['-12.50', '-12.50'],
    ['1e-7', '0.0000001'],
    ['1E+2', '100'],
    ['0E-8', '0'],
  ])('%s is the amount %s, no digit lost, as a number and as a text', (token, expected) => {
    for (const amount_to of [new LosslessNumber(token), token, ` ${token} `]) {
      expect(readObject(orderSchema, answer(orderObject({ amount_to }))).amount_to).toBe(expected);
    }
  });

  test.each(['1e999', '1e100'])('%s is no amount', (token) => {
    const order = readObject(orderSchema, answer(orderObject({ amount_to: new LosslessNumber(token) })));
    expect(order).toMatchObject({ amount_to: null, unreadable: ['amount_to'] });
  });

  test('a wallet that is a number keeps all of its digits', () => {
    const card = orderObject({ wallet_to: new LosslessNumber('4111111111111111234') });
    expect(readObject(orderSchema, answer(card)).wallet_to).toBe('4111111111111111234');
  });
});

describe('rates and balances', () => {
  test('one bad rate costs none of the others, and stands in its place with the reason', () => {
    const withdraw = { usd_card: rateObject({ min_amount_from: '1,000' }), eur_card: rateObject() };
    expect(readObject(ratesSchema, answer({ withdraw }))).toEqual({
      withdraw: { usd_card: { malformed: expect.stringContaining('min_amount_from') }, eur_card: rateObject() },
    });
  });

  test('an empty list is an empty object of pairs, or of currencies', () => {
    expect(readObject(ratesSchema, answer({ withdraw: [], exchange: null }))).toEqual({ withdraw: {} });
    expect(readObject(balancesSchema, answer([]))).toEqual({});
  });

  test('one bad balance costs none of the others and still says which wallet it is', () => {
    const bad = { ...balanceObject('w-1'), amount: 'NaN' };
    expect(readObject(balancesSchema, answer({ usd: bad, eur: balanceObject('w-2'), btc: 'x' }))).toEqual({
      usd: { malformed: expect.stringContaining('amount'), wallet_uuid: 'w-1' },
      eur: balanceObject('w-2'),
      btc: { malformed: expect.any(String) },
    });
  });
});
