import { expect, it } from 'vitest';
import type { FieldError } from '../../src/contract/failures.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { withoutNulls } from '../../src/contract/without-nulls.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { CARDS_REQUEST, inputWith } from '../contract/inputs.fixture.js';

/** [row of the catalogue of bad input or 0, what, type, input, field, part of the reason] */
export type Refused = [number, string, OrderType, unknown, string, string | RegExp];

/** [row of the catalogue or 0, what, type, input] */
export type Accepted = [number, string, OrderType, unknown];

/** What is wrong with an input; [] = nothing. */
export function errorsOf(type: OrderType, input: unknown, options?: { followUp?: boolean }): FieldError[] {
  const checked = validateOrderInput(type, input, options);
  return 'errors' in checked ? checked.errors : [];
}

/** The bad fields of an input. */
export const fieldsOf = (type: OrderType, input: unknown): string[] => errorsOf(type, input).map(({ field }) => field);

/** One test per row: the field is named, for the right reason. */
export function itRefuses(rows: Refused[]): void {
  it.each(rows)('row %i: %s (%s)', (_row, _what, type, input, field, reason) => {
    expect(errorsOf(type, input).find((error) => error.field === field)?.reason).toMatch(reason);
  });
}

/** One test per row: the input is given back as it is, without its nulls. */
export function itAccepts(rows: Accepted[]): void {
  it.each(rows)('row %i: %s (%s)', (_row, _what, type, input) => {
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
