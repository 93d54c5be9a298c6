import type { Client } from '@temporalio/client';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderType } from '../contract/order/types.js';
import type { OrderInput } from '../contract/order/workflow.js';
import { FORMAT_CHECKS_READ, type FormatChecks } from '../validation/format-checks.js';
import { validateOrderInput, validateRecoveredInput } from '../validation/order-schema.js';
import { InvalidInputError } from './errors.js';
import { isAccountServed, readService } from './service-reads.js';

/** Whoever starts an order does not wait longer for the account's setting: without it the input is refused. */
const SETTING_TIMEOUT_MS = 10_000;

/** The checked input; throws InvalidInputError naming every bad field. 'warn' leaves rules that are ours to the workers. */
export function checkOrderInput<T extends OrderType>(
  type: T,
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
): OrderInput<T> {
  const recovered = typeof input === 'object' && input !== null && 'recovered' in input;
  const checked = recovered ? validateRecoveredInput(type, input) : validateOrderInput(type, input, { formatChecks });
  if ('errors' in checked) throw new InvalidInputError(checked.errors);
  return checked.input;
}

/** What an input turns out to be under a setting. */
type Check<I> = (formatChecks: FormatChecks) => { input: I } | { errors: FieldError[] };

/**
 * The input as its account's workers would check it. They are asked only where it breaks nothing but rules that are ours;
 * where nobody answers, those refuse it, too. Throws InvalidInputError.
 */
export async function checkedForAccount<I extends { account?: string }>(client: Client, check: Check<I>): Promise<I> {
  const strict = check('refuse');
  if (!('errors' in strict)) return strict.input;
  const lenient = check('warn');
  if ('errors' in lenient || (await formatChecksOf(client, lenient.input.account)) !== 'warn') {
    throw new InvalidInputError(strict.errors);
  }
  return lenient.input;
}

/** The account's PAYMENT_FORMAT_CHECKS; 'refuse' where it is not to be had. Never throws. */
export async function formatChecksOf(client: Client, account = DEFAULT_ACCOUNT): Promise<FormatChecks> {
  try {
    if (!(await isAccountServed(client, account))) return 'refuse';
    return await readService<FormatChecks>(client, FORMAT_CHECKS_READ, account, undefined, SETTING_TIMEOUT_MS);
  } catch {
    return 'refuse';
  }
}

/** The checked input of an order for its account. Throws InvalidInputError. */
export const checkedOrder = <T extends OrderType>(client: Client, type: T, input: unknown): Promise<OrderInput<T>> =>
  checkedForAccount<OrderInput<T>>(client, (formatChecks) => {
    try {
      return { input: checkOrderInput(type, input, formatChecks) };
    } catch (error) {
      if (error instanceof InvalidInputError) return { errors: [...error.fields] };
      throw error;
    }
  });
