import { expect, test } from 'vitest';
import type { FieldError } from '../../src/contract/failures.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { withoutNulls } from '../../src/contract/without-nulls.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { CARDS_REQUEST, inputWith } from '../contract/inputs.fixture.js';

/** What is wrong with an input; [] = nothing. */
export function errorsOf(type: OrderType, input: unknown, options?: { followUp?: boolean }): FieldError[] {
  const checked = validateOrderInput(type, input, options);
  return 'errors' in checked ? checked.errors : [];
}

/** The bad fields of an input. */
export const fieldsOf = (type: OrderType, input: unknown): string[] => errorsOf(type, input).map(({ field }) => field);

/** A value in the title of a test. */
const shown = (value: unknown) => String(typeof value === 'object' ? JSON.stringify(value) : value).slice(0, 40);

/** Every bad input that the tests of a file were made of, so that other doors can be tried with it. */
export const CATALOGUE: { type: OrderType; input: unknown }[] = [];

/** Every input that the tests of a file accept, as JSON holds it. */
export const ACCEPTED: { type: OrderType; input: unknown }[] = [];

/** One test for a row of the catalogue of bad input (0: none): the input is refused by its field, for the right reason. */
export function refuses(row: number, type: OrderType, input: unknown, field: string, reason: string | RegExp): void {
  CATALOGUE.push({ type, input });
  test(`row ${row}: ${type} by ${field}: ${reason}`, () => {
    expect(errorsOf(type, input).find((error) => error.field === field)?.reason).toMatch(reason);
  });
}

/** One test for each value: with it in a field, the order of a type is refused by that field. */
export function refusesEach(
  row: number,
  type: OrderType,
  field: string,
  reason: string | RegExp,
  values: readonly unknown[],
): void {
  CATALOGUE.push(...values.map((value) => ({ type, input: inputWith(type, { [field]: value }) })));
  test.each(values.map((value) => [shown(value), value] as const))(`row ${row}: ${type} ${field} %s`, (_, value) => {
    const found = errorsOf(type, inputWith(type, { [field]: value }));
    expect(found.find((error) => error.field === `order.${field}`)?.reason).toMatch(reason);
  });
}

/** One test for each input: it is given back as it is, without its nulls. */
export function accepts(row: number, type: OrderType, ...inputs: unknown[]): void {
  ACCEPTED.push(...inputs.map((input) => ({ type, input })));
  test.each(inputs.map((input, n) => [n, input]))(`row ${row}: ${type} %i is accepted`, (_, input) => {
    expect(validateOrderInput(type, input)).toEqual({ input: withoutNulls(input) });
  });
}

/** A payout to several cards with some fields replaced. */
export const cards = (changes: Record<string, unknown>) => ({ order: { ...CARDS_REQUEST, ...changes } });

/** A payout to one wallet of a network. */
export const payout = (network: string, wallet: string, details?: unknown) =>
  inputWith('withdraw', { currency: 'eur', network, wallet, wallet_details: details });

/** Valid details of an IBAN payout to one country's banks. */
export const BANK_UA = { recipient_bank: 'Bank', recipient_name: 'Name', taxpayer_number: '1234567890' };
/** Valid details of an IBAN payout in Europe. */
export const SEPA = { recipient_email: 'jane@example.com', recipient_name: 'Jane' };
