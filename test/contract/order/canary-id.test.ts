import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasFormOf, isFormOfId, ORDER_ID_FORMAT } from '../../../src/contract/names.js';
import { canaryId } from '../../../src/contract/order/canary.js';

const NOW_MS = Date.parse('2026-11-29T03:00:00Z');
const CHARACTERS = [...'abzABZ019._:-'];

describe('the id of a canary', () => {
  test.each([
    'refund-2026-117',
    'INV_1:2.3',
    '117',
    '0117',
    '12345678901234567890',
    '1.5',
    '0012.50',
    '1764385200000',
    'a'.repeat(120),
    '9'.repeat(120),
    '0'.repeat(120),
  ])('has the form of %s', (orderId) => {
    const id = canaryId(orderId, NOW_MS);
    expect(id).toMatch(ORDER_ID_FORMAT);
    expect(hasFormOf(id, orderId)).toBe(true);
    expect(isFormOfId(id, orderId)).toBe(false);
  });

  test('is a valid one with the form of almost any id, and of another payment', () => {
    const ids = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 120 });
    fc.assert(
      // A number such as 1e5 has no id of its form; then the canary does not count for it.
      fc.property(
        ids.filter((id) => !/^\d+(\.\d*)?(e\d+)?$/i.test(id)),
        (orderId) => {
          const id = canaryId(orderId, NOW_MS);
          expect(id).toMatch(ORDER_ID_FORMAT);
          expect(hasFormOf(id, orderId)).toBe(true);
          expect(id).not.toMatch(/\.r\d+$/);
        },
      ),
    );
  });

  test('differs by time', () => {
    expect(canaryId('117', NOW_MS)).not.toBe(canaryId('117', NOW_MS + 1));
  });
});
