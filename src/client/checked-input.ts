import type { BatchInput } from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { INTERNAL_OPTIONS, type OrderInput } from '../contract/order/input-and-result.js';
import type { OrderType } from '../contract/order/types.js';
import { validateBatchInput } from '../validation/batch-input.js';
import type { FormatChecks } from '../validation/field-errors.js';
import type { JsonInput } from '../validation/json-input.js';
import { validateOrderInput } from '../validation/order-input.js';
import { InvalidInputError } from './errors.js';

/** Options of a check. `formatChecks: 'warn'`: for an account with that setting. */
export interface CheckOptions {
  formatChecks?: FormatChecks | undefined;
}

/** Returns the input of a passed check. Throws InvalidInputError. */
export function accepted<T>(checked: { input: T } | { errors: FieldError[] }): T {
  if ('errors' in checked) throw new InvalidInputError(checked.errors);
  return checked.input;
}

/** Returns the checked input of an order. Throws InvalidInputError with every bad field. */
export function checkOrderInput<T extends OrderType>(type: T, input: unknown, options?: CheckOptions): OrderInput<T> {
  const given = Object(input) as Record<string, unknown>;
  const internal = INTERNAL_OPTIONS.filter((name) => given[name] !== undefined && given[name] !== null);
  if (internal.length === 0) return accepted(validateOrderInput(type, input, options));
  throw new InvalidInputError(
    internal.map((field) => ({ field, reason: 'is set by the product itself: leave it out' })),
  );
}

/**
 * Returns the checked input of a batch, except rows beyond the inline limits, which the upload
 * checks. Throws InvalidInputError with every bad field.
 */
export const checkBatchInput = (input: unknown, { formatChecks }: CheckOptions = {}): BatchInput =>
  accepted(validateBatchInput(input, formatChecks, true));

/** Value of a file or body, and the amounts in it that were numbers. */
export type ParsedInput = Omit<JsonInput, 'problem'>;

/** Runs a check, also for amounts that were numbers. Throws InvalidInputError. */
export function checkWith<T>({ value, errors }: ParsedInput, check: (value: unknown) => T): T {
  try {
    const checked = check(value);
    if (errors.length === 0) return checked;
  } catch (error) {
    if (!(error instanceof InvalidInputError) || errors.length === 0) throw error;
    const others = error.fields.filter(({ field }) => errors.every((amount) => amount.field !== field));
    throw new InvalidInputError([...errors, ...others]);
  }
  throw new InvalidInputError(errors);
}
