import Big from 'big.js';
import { isLosslessNumber } from 'lossless-json';
import { SIGNED_AMOUNT_FORMAT } from '../contract/money.js';

/** A JSON number that is no more than a decimal: what a writer makes of 0.0000001 included, nothing astronomic. */
const NUMBER_TOKEN = /^-?\d{1,60}(\.\d{1,60})?([eE][+-]?\d{1,2})?$/;

/**
 * The decimal string that an amount of the service stands for: "+10.00" is 10.00, and a JSON number is its digits, none
 * lost. undefined for everything else, such as "1,000.00": an amount is never guessed.
 */
export function looseAmount(value: unknown): string | undefined {
  if (isLosslessNumber(value)) {
    if (!NUMBER_TOKEN.test(value.value)) return undefined;
    return SIGNED_AMOUNT_FORMAT.test(value.value) ? value.value : new Big(value.value).toFixed();
  }
  if (typeof value !== 'string') return undefined;
  const unsigned = value.replace(/^\+(?=\d)/, '');
  return SIGNED_AMOUNT_FORMAT.test(unsigned) ? unsigned : undefined;
}
