import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { givenTwiceIn, keyGivenTwice, markGivenTwice } from '../../src/contract/json.js';
import { readJson } from '../../src/validation/json-input.js';
import { cpuMs } from '../support/cpu-ms.js';

const marked = (text: string) => markGivenTwice(JSON.parse(text), text);
const keyOf = (value: object) => Object.keys(value).flatMap((name) => givenTwiceIn(name) ?? []);

describe('a field given twice', () => {
  test.for([
    ['{"wallet":"a","wall\\u0065t":"b"}', 'wallet'],
    ['{ "order" : { "a" : 1 , "b" : [ { "amount" : "1" , "amount" : "2" } ] } }', 'amount'],
    ['{"a":{"x":1},"a":{"x":2}}', 'a'],
    ['{"a":"\\":\\\\","a":""}', 'a'],
    ['{"order":{"a":1,"a":1},"b":1,"b":2}', 'b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('%s is found', ([text = '', key = '']) => {
    expect(keyOf(marked(text))).toEqual([key]);
    expect(keyGivenTwice(text)).toBe(key);
    expect(readJson(text).problem).toMatch(/^names the field .* twice with different values at position \d+$/);
  });

  test('is no mistake with one value', () => {
    expect(marked('{"a":{"x":[1]},"a":{"x":[1]}}')).toEqual({ a: { x: [1] } });
    expect(readJson('{"a":1,"a":1}')).toEqual({ value: { a: 1 }, errors: [] });
  });

  test('is found in no text that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(marked(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('costs linear time, and no depth ends it', () => {
    const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
    expect(marked(`{"a":${deep}}`)).toHaveProperty('a');
    expect(keyOf(marked(`{"b":1,"b":2,"a":${deep}}`))).toEqual(['b']);
    const text = `{"a":"${':\\"'.repeat(500_000)}"}`;
    const parsed = JSON.parse(text);
    expect(cpuMs(() => markGivenTwice(parsed, text))).toBeLessThan(1_000);
  });
});
