import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leanAnswer, wholeAnswer } from '../../../src/contract/order/lean.js';
import { orderFor, REQUESTS } from '../inputs.fixture.js';

const ORDER = orderFor('withdraw', REQUESTS.withdraw);

/** What a history keeps of an answer is JSON: what is undefined is not there. */
const kept = <T>(answer: T): T => JSON.parse(JSON.stringify(leanAnswer(answer))) as T;

describe('an answer of an activity', () => {
  test('comes back as it was, whatever its order shows in any field', () => {
    const fields = Object.keys(ORDER) as (keyof typeof ORDER)[];
    const values = fc.constantFrom<unknown>(null, '', '0', 0, false, true, 'x', '12.50', [], { a: null });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...fields), values), (changes) => {
        const order = { ...ORDER, ...changes };
        expect(wholeAnswer(kept(order))).toEqual(order);
        expect(wholeAnswer(kept({ kind: 'found', order, readAtMs: 1 }))).toEqual({ kind: 'found', order, readAtMs: 1 });
      }),
    );
  });

  test('holds less than half of an order whose fields are mostly as usual', () => {
    expect(JSON.stringify(leanAnswer(ORDER)).length).toBeLessThan(JSON.stringify(ORDER).length / 2);
  });

  test.for([[undefined], [null], [7], ['absent'], [{ kind: 'absent', said: 'HTTP 400' }], [{ order: 'none' }]])(
    'without an order stays as it is: %o',
    ([answer]) => {
      expect(leanAnswer(answer)).toEqual(answer);
      expect(wholeAnswer(answer)).toEqual(answer);
    },
  );
});
