import BigJs from 'big.js';

/**
 * Exact decimals. A constructor of our own: big.js keeps its division precision on the constructor, and tests run
 * this sandbox in the same process as other code that uses big.js.
 */
const Exact = BigJs();
Exact.DP = 40;

/** An exact decimal. */
export type Decimal = BigJs;

/** Parses a decimal string. */
export const decimal = (text: string): Decimal => new Exact(text);

/** Zero. */
export const ZERO = decimal('0');

/** Writes a decimal string without exponent and without trailing zeros. */
export const text = (value: Decimal): string => value.toFixed();

/** Cuts to a currency's precision. Everything the merchant or a recipient gets is rounded this way. */
export const roundDown = (value: Decimal, precision: number): Decimal => value.round(precision, BigJs.roundDown);

/** Rounds up to a currency's precision. Everything the service takes (fees, required deposits) is rounded this way. */
export const roundUp = (value: Decimal, precision: number): Decimal => value.round(precision, BigJs.roundUp);

/** The smallest amount a currency can express. */
export const unit = (precision: number): Decimal => decimal('10').pow(-precision);

/** The larger of two. */
export const larger = (a: Decimal, b: Decimal): Decimal => (a.gt(b) ? a : b);

/** The smaller of two. */
export const smaller = (a: Decimal, b: Decimal): Decimal => (a.lt(b) ? a : b);
