import { ApplicationFailure } from '@temporalio/common';
import { describeFieldErrors, type FieldError, INVALID_INPUT } from '../../../contract/failures.js';

/** Histories contain the failure: its details stay well below 100 KB. */
const MAX_SHOWN_BYTES = 40_000;
const MAX_MESSAGE_LENGTH = 1_000;

/** A bad field of a row. */
export type BadField = FieldError & { line: number };

/** Returns the error of an account that no worker has. */
export const unserved = (account: string, accounts: readonly string[]): FieldError => ({
  field: 'account',
  reason: `no worker serves ${account}; accounts here: ${accounts.join(', ')}. Correct the name, or start a worker that has it in PAYMENT_ACCOUNTS_FILE`,
});

/** Returns the error of a row whose id an earlier row has. */
export const sameId = (first: number, line: number): FieldError => ({
  field: 'order.order_id',
  reason: `lines ${first} and ${line} have the same id`,
});

/** Returns the failure that refuses a batch for its rows. `where`: names the file of all errors. */
export function refusalOfRows(bad: readonly BadField[], rows: number, where = ''): ApplicationFailure {
  const count = new Set(bad.map(({ line }) => line)).size;
  const errors: FieldError[] = [{ field: 'rows', reason: `${count} of ${rows} are bad, so nothing was sent${where}` }];
  let bytes = 0;
  for (const { line, field, reason } of bad) {
    const shown = { field: `line ${line}: ${field}`, reason };
    bytes += Buffer.byteLength(JSON.stringify(shown));
    if (bytes > MAX_SHOWN_BYTES) break;
    errors.push(shown);
  }
  const message = describeFieldErrors(errors.slice(0, 10)).slice(0, MAX_MESSAGE_LENGTH);
  return ApplicationFailure.create({ type: INVALID_INPUT, message, nonRetryable: true, details: [errors] });
}
