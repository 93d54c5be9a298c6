import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AMOUNT_FORMAT,
  decimal,
  decimalOrZero,
  decimalPlaces,
  sameAmount,
  sum,
  toAmount,
  writtenPlaces,
} from '../../src/contract/money.js';

const decimals = fc.stringMatching(/^(0|[1-9]\d{0,20})(\.\d{1,18})?$/);

describe('amounts', () => {
  it('add up exactly where floating point does not', () => {
    expect(toAmount(sum([decimal('0.1'), decimal('0.2')]))).toBe('0.3');
    expect(toAmount(sum([]))).toBe('0');
  });

  it('keep every digit of 30 digits and 18 decimals, without exponent', () => {
    const amount = '123456789012345678901234567890.123456789012345678';
    expect(toAmount(decimal(amount))).toBe(amount);
    expect(toAmount(decimal('0.000000000000000001'))).toBe('0.000000000000000001');
  });

  it('come back numerically equal from every sum and its reverse', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        expect(sameAmount(toAmount(decimal(a).plus(decimal(b)).minus(decimal(b))), a)).toBe(true);
      }),
    );
  });

  it.each(['', ' 1', '1e3', '1,5', '+1', '.5', '5.', 'NaN', 'Infinity', '0x1', '٣', '1\n'])('throws on %j', (text) => {
    expect(() => decimal(text)).toThrow(RangeError);
    expect(AMOUNT_FORMAT.test(text)).toBe(false);
  });

  it('reads negative changes, which no request may carry', () => {
    expect(toAmount(decimal('-1.50'))).toBe('-1.5');
    expect(AMOUNT_FORMAT.test('-1.50')).toBe(false);
  });

  it('counts null as 0 in sums only', () => {
    expect(toAmount(decimalOrZero(null))).toBe('0');
    expect(toAmount(decimalOrZero(undefined))).toBe('0');
    expect(sameAmount(null, '0')).toBe(false);
    expect(sameAmount(null, undefined)).toBe(true);
  });

  it.each([
    ['100.00', '100', true],
    ['0', '-0', true],
    ['1', '1.0000000000000000001', false],
    ['x', 'x', true],
    ['1', 'x', false],
  ])('%s and %s are the same: %s', (a, b, same) => {
    expect(sameAmount(a, b)).toBe(same);
  });

  it.each([
    ['5', 0, 0],
    ['5.00', 0, 2],
    ['5.050', 2, 3],
    ['0.000000000000000001', 18, 18],
  ])('%s has %i decimal places, and %i as written', (amount, places, written) => {
    expect([decimalPlaces(amount), writtenPlaces(amount)]).toEqual([places, written]);
  });
});
