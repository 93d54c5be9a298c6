import { describe, expect, test } from 'vitest';
import { readHint, readReceivedHint } from '../../src/receiver/callback-body.js';

const read = (text: string) => readHint(Buffer.from(text), 'invoice-1');

describe('a body that is one JSON object', () => {
  test('gives its order_uuid and status', () => {
    expect(read('{"user_order_id":"invoice-1","order_uuid":"a-B-1","status":"completed_partially","x":1}')).toEqual({
      order_uuid: 'a-B-1',
      status: 'completed_partially',
    });
  });

  test('may be empty, may start with a byte order mark, may carry an unknown status', () => {
    expect(read('{}')).toEqual({});
    expect(read('\ufeff{"status":"refunded"}')).toEqual({ status: 'refunded' });
  });

  test.each([
    ['a number', '{"order_uuid":7,"status":8}'],
    ['null', '{"order_uuid":null,"status":null}'],
    ['an object', '{"order_uuid":{"a":1},"status":["completed"]}'],
    ['empty', '{"order_uuid":"","status":""}'],
    ['10,000 characters', JSON.stringify({ order_uuid: 'a'.repeat(10_000), status: 'a'.repeat(10_000) })],
    ['other characters', '{"order_uuid":"a/b\\n","status":"Completed "}'],
  ])('loses fields that are %s', (_shape, text) => {
    expect(read(text)).toEqual({});
  });

  test('about another order keeps none of its claims', () => {
    expect(read('{"user_order_id":"invoice-2","order_uuid":"u-2","status":"completed"}')).toEqual({});
  });

  test('with a __proto__ key changes no prototype', () => {
    expect(read('{"__proto__":{"status":"completed"}}')).toEqual({});
    expect(({} as { status?: string }).status).toBeUndefined();
  });
});

describe('no hint comes from', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['text', 'status=completed'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['a number', '1'],
    ['JSON5', "{status: 'completed',}"],
    ['a comment', '{} // end'],
    ['a truncated object', '{"status":"completed"'],
    ['a key with two values', '{"status":"completed","status":"error"}'],
    ['a number beyond all doubles', '{"amount":1e400}'],
    ['arrays 30,000 deep', `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['objects 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['65,536 opening brackets', '['.repeat(65_536)],
  ])('%s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });

  test.each([
    ['UTF-16 with a byte order mark', Buffer.from('\ufeff{"status":"completed"}', 'utf16le')],
    ['UTF-16 without one', Buffer.from('{"status":"completed"}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['gzip', Buffer.from('1f8b0800000000000003ab05000000ffff0300', 'hex')],
  ])('%s', (_what, raw) => {
    expect(readHint(raw, 'invoice-1')).toBeUndefined();
  });
});

describe('the body of a permanent address', () => {
  const received = (text: string) => readReceivedHint(Buffer.from(text));

  test('gives order_uuid and status, whatever else it names', () => {
    const text = '{"user_order_id":"x","order_uuid":"a-B-1","status":"completed","deposit_address":"T1"}';
    expect(received(text)).toEqual({ order_uuid: 'a-B-1', status: 'completed' });
  });

  test('keeps the order_uuid when the status is unusable', () => {
    expect(received('{"order_uuid":"a-1","status":7}')).toEqual({ order_uuid: 'a-1' });
  });

  test.each(['{}', '[]', '', 'x', '{"order_uuid":"a/b"}', '{"order_uuid":""}', '{"order_uuid":["a"]}'])(
    'gives nothing without a usable order_uuid: %s',
    (text) => expect(received(text)).toBeUndefined(),
  );
});
