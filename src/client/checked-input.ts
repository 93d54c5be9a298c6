import type { BatchInput } from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { INTERNAL_OPTIONS, type OrderInput } from '../contract/order/input-and-result.js';
import type { OrderType } from '../contract/order/types.js';
import { validateBatchInput } from '../validation/batch-input.js';
import type { FormatChecks } from '../validation/field-errors.js';
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

/** Returns the checked input of a batch. Throws InvalidInputError with every bad field. */
export const checkBatchInput = (input: unknown, { formatChecks }: CheckOptions = {}): BatchInput =>
  accepted(validateBatchInput(input, formatChecks));
