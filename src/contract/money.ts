import Big from 'big.js';

/* Exact decimal arithmetic. Only functions that say so round. */

/** Amounts of requests: no sign, exponent, blank or separator. */
export const AMOUNT_FORMAT = /^(0|[1-9]\d*)(\.\d+)?$/;
/** Amounts of responses: also negative (balance changes). */
export const SIGNED_AMOUNT_FORMAT = /^-?\d+(\.\d+)?$/;

export const MAX_AMOUNT_LENGTH = 40;
/** Decimal string of the service. */
export type Amount = string;

export function decimal(amount: Amount): Big {
  if (!SIGNED_AMOUNT_FORMAT.test(amount)) throw new RangeError('not a decimal amount');
  return new Big(amount);
}

/** Like `decimal`, with null and undefined as 0 (sums only). */
export const decimalOrZero = (amount: Amount | null | undefined): Big =>
  amount == null ? new Big(0) : decimal(amount);

export const toAmount = (value: Big): Amount => value.toFixed();
export const sum = (amounts: readonly Big[]): Big => amounts.reduce((total, amount) => total.plus(amount), new Big(0));

/** Returns true when both are decimals and numerically equal ("100.00" = "100"). */
export function sameAmount(a: Amount | null | undefined, b: Amount | null | undefined): boolean {
  if (a == null || b == null) return a == null && b == null;
  if (!SIGNED_AMOUNT_FORMAT.test(a) || !SIGNED_AMOUNT_FORMAT.test(b)) return a === b;
  return decimal(a).eq(decimal(b));
}

/** Returns true if an approval covers an amount. One without a figure covers only what has none. */
export const covers = (approved: Amount | undefined, amount: Amount | undefined): boolean =>
  approved === undefined || amount === undefined ? approved === amount : decimal(amount).lte(approved);

/** Counts no trailing zeros. */
export const decimalPlaces = (amount: Amount): number => writtenPlaces(toAmount(decimal(amount)));

export const writtenPlaces = (amount: Amount): number => amount.split('.')[1]?.length ?? 0;
export const MAX_PLACES = 30;
export const isPlaces = (places: number): boolean => Number.isInteger(places) && places >= 0 && places <= MAX_PLACES;

/**
 * Returns the quotient to 60 decimal places, so that small ones keep their digits. Throws for 0.
 */
export function divide(a: Big, b: Big): Big {
  const Quotient = Big();
  Quotient.DP = 60;
  return new Big(new Quotient(a).div(b));
}
