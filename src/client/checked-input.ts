import type { Client } from '@temporalio/client';
import type { BatchInput } from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { INTERNAL_OPTIONS, type OrderInput } from '../contract/order/input-and-result.js';
import type { OrderType } from '../contract/order/types.js';
import { validateBatchInput } from '../validation/batch-input.js';
import { FORMAT_CHECKS_READ, type FormatChecks } from '../validation/field-errors.js';
import { validateOrderInput } from '../validation/order-input.js';
import { InvalidInputError } from './errors.js';
import { isAccountServed, readService } from './service-calls.js';

/** Whoever starts an order does not wait longer for the account's setting: without it the input is refused. */
const SETTING_TIMEOUT_MS = 10_000;

/** The input that a check let through. Throws InvalidInputError. */
export function accepted<T>(checked: { input: T } | { errors: FieldError[] }): T {
  if ('errors' in checked) throw new InvalidInputError(checked.errors);
  return checked.input;
}

/** Returns the checked input. Throws InvalidInputError with every bad field. 'warn' leaves rules that are ours to the workers. */
export function checkOrderInput<T extends OrderType>(
  type: T,
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
): OrderInput<T> {
  const given = Object(input) as Record<string, unknown>;
  const internal = INTERNAL_OPTIONS.filter((name) => given[name] !== undefined && given[name] !== null);
  if (internal.length === 0) return accepted(validateOrderInput(type, input, { formatChecks }));
  throw new InvalidInputError(
    internal.map((field) => ({ field, reason: 'is set by the product itself: leave it out' })),
  );
}

/** The checked input of a batch, as `checkOrderInput` has it. */
export const checkBatchInput = (input: unknown, formatChecks: FormatChecks): BatchInput =>
  accepted(validateBatchInput(input, formatChecks));

/** Checks with our format rules, which the account's workers may waive; throws what `check` throws. */
export async function checkedForAccount<I extends { account?: string }>(
  client: Client,
  check: (formatChecks: FormatChecks) => I,
): Promise<I> {
  try {
    return check('refuse');
  } catch (refused) {
    if (!(refused instanceof InvalidInputError)) throw refused;
    const lenient = unlessRefused(() => check('warn'));
    if (!lenient || (await formatChecksOf(client, lenient.account)) !== 'warn') throw refused;
    return lenient;
  }
}

function unlessRefused<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch {
    return undefined;
  }
}

/** The account's `formatChecks`; 'refuse' where it is not to be had. Never throws. */
async function formatChecksOf(client: Client, account = DEFAULT_ACCOUNT): Promise<FormatChecks> {
  try {
    if (!(await isAccountServed(client, account))) return 'refuse';
    return await readService<FormatChecks>(client, FORMAT_CHECKS_READ, account, undefined, SETTING_TIMEOUT_MS);
  } catch {
    return 'refuse';
  }
}
