import { differences, sameValue } from './differences.js';
import { DEFAULT_ACCOUNT } from './ids.js';
import type { OrderInput } from './orders.js';

/** What a start asks for, with the defaults filled in; the batch it came from is not part of it. */
function wanted(input: Partial<OrderInput> | null | undefined): Record<string, unknown> {
  return {
    account: input?.account ?? DEFAULT_ACCOUNT,
    order: input?.order,
    compensation: input?.compensation,
    revertTo: input?.revertTo,
    resend: input?.resend ?? 'once',
  };
}

/**
 * Fields in which two starts of one order id differ; [] = a start may attach to the other's run. Amounts compare
 * numerically, null, '' and absent are the same, key order does not matter. Tolerates input that was never validated.
 */
export function orderInputDifferences(a: OrderInput, b: OrderInput): string[] {
  const [mine, theirs] = [wanted(a), wanted(b)];
  return Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, sameValue));
}
