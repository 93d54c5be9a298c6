import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, toInteger, toPlain, toWireBytes } from '../../src/payment-service/wire.js';
import { withdrawRequest } from './objects.fixture.js';

const written = (request: object) => toWireBytes(request).toString();

describe('requests', () => {
  test('amounts are number tokens digit for digit, everything else is plain JSON', () => {
    const request = {
      order_id: '123',
      amount: '0.123456789012345678',
      delay_order_for_minutes: 5,
      wallet_details: [{ amount: '9007199254740993.10', wallet: '4111111111111111' }],
      client_info: { client_id: '7' },
    };
    expect(written(request)).toBe(
      '{"order_id":"123","amount":0.123456789012345678,"delay_order_for_minutes":5,' +
        '"wallet_details":[{"amount":9007199254740993.10,"wallet":"4111111111111111"}],"client_info":{"client_id":"7"}}',
    );
    expect(written({ amount_to: '100.00' })).toBe('{"amount_to":100.00}');
  });

  test('every amount survives, whatever its digits', () => {
    const amount = fc.stringMatching(/^(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?$/);
    fc.assert(fc.property(amount, (text) => written({ amount: text }) === `{"amount":${text}}`));
  });

  test('an object in wallet_details stays as it is', () => {
    expect(written({ wallet_details: { bank_code: '001' } })).toBe('{"wallet_details":{"bank_code":"001"}}');
  });

  test('null and undefined are left out', () => {
    const request = withdrawRequest({ wallet_memo: null, description: undefined, wallet_details: null });
    expect(Object.keys(JSON.parse(written(request)))).toEqual(['order_id', 'currency', 'network', 'amount', 'wallet']);
    expect(written({})).toBe('{}');
  });

  test('text outside of ASCII is written in UTF-8', () => {
    expect(toWireBytes({ description: 'ж€😀' })).toEqual(Buffer.from('{"description":"ж€😀"}', 'utf8'));
  });

  test.each([5, 'abc', '1e5', '-1', '', ' 1', '1,5', 'NaN', true, {}])(
    'the amount %j is refused unquoted',
    (amount) => {
      expect(() => toWireBytes({ amount })).toThrow(/^invalid request: amount: must be a decimal string$/);
      expect(() => toWireBytes({ wallet_details: [{ amount, wallet: 'w' }] })).toThrow(/wallet_details\[0\]\.amount/);
    },
  );
});

describe('responses', () => {
  const parsed = (text: string) => parseJson(Buffer.from(text));

  test('no number loses a digit', () => {
    expect(toPlain(parsed('{"amount":0.123456789012345678,"n":12345678901234567890,"e":1e400}'))).toEqual({
      amount: '0.123456789012345678',
      n: '12345678901234567890',
      e: '1e400',
    });
  });

  test('only safe integers become numbers', () => {
    expect(['0', '-7', '999999999999999'].map((n) => toInteger(parsed(n)))).toEqual([0, -7, 999_999_999_999_999]);
    for (const token of ['1.0', '1e2', '9007199254740993']) expect(typeof toInteger(parsed(token))).toBe('object');
  });

  test.each(['', 'not json', '{', '{"a":1', '[1,]', '{"a":1} x', '<html></html>', '{"a":1,"a":2}'])(
    '%j is malformed',
    (text) => {
      expect(() => parsed(text)).toThrow(/body: not JSON$/);
    },
  );

  test('bytes that are no UTF-8 are malformed', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/not JSON/);
  });

  test('nesting of 200,000 levels is malformed, not a crash', () => {
    expect(() => parsed('['.repeat(200_000) + ']'.repeat(200_000))).toThrow(/not JSON/);
    expect(() => toPlain(parsed('['.repeat(100) + ']'.repeat(100)))).toThrow('nested too deep');
  });

  test('`__proto__` and its like change nothing but the object they are in', () => {
    const value = toPlain(parsed('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":"b"}'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['constructor', 'a']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
