import { type BatchInput, inlineBytes, MAX_INLINE_BYTES, type ScheduledBatchInput } from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { checkedBy, type FormatChecks, presentable } from './field-errors.js';
import { batchSchema, scheduledSchema } from './input-schemas.js';
import { validateOrderInput } from './order-input.js';
import { isPeriod } from './periods.js';

/** Errors of the rows, by the same rules as single orders: `rows[3].amount`. */
function rowErrors(
  { account: name, rows = [], compensation, resend }: BatchInput,
  formatChecks: FormatChecks,
): FieldError[] {
  return rows.flatMap((order, index) => {
    const input = { account: name ?? DEFAULT_ACCOUNT, order, compensation, resend };
    const checked = validateOrderInput('withdraw', input, { formatChecks });
    if ('input' in checked) return [];
    return checked.errors.map(({ field, reason }) => ({ field: field.replace(/^order/, `rows[${index}]`), reason }));
  });
}

function batchRules(input: BatchInput, formatChecks: FormatChecks): FieldError[] {
  const errors = rowErrors(input, formatChecks);
  if ((input.file === undefined) === (input.rows === undefined)) {
    errors.push({ field: 'file', reason: 'exactly one of file and rows is needed' });
  }
  if (inlineBytes(input) > MAX_INLINE_BYTES) {
    errors.push({ field: 'rows', reason: `are more than ${MAX_INLINE_BYTES} bytes; send them in a file` });
  }
  if (input.approvalExpiresMs !== undefined && input.approval !== 'required') {
    errors.push({ field: 'approvalExpiresMs', reason: "only with approval 'required'" });
  }
  return errors;
}

/** Checks the input of a batch as far as that goes without its file; every bad field is named, never throws. */
export function validateBatchInput(
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
): { input: BatchInput } | { errors: FieldError[] } {
  const checked = checkedBy(batchSchema, input);
  const errors = 'errors' in checked ? [] : batchRules(checked.input, formatChecks);
  return errors.length === 0 ? checked : { errors: presentable(errors) };
}

/** Checks the input of `scheduledBatch`; every bad field is named, never throws. */
export function validateScheduledBatchInput(input: unknown): { input: ScheduledBatchInput } | { errors: FieldError[] } {
  const checked = checkedBy(scheduledSchema, input);
  if ('errors' in checked) return checked;
  const { period, periodFormat = 'date' } = checked.input;
  if (period === undefined || isPeriod(period, periodFormat)) return checked;
  const example = periodFormat === 'date' ? '2026-11-27' : '2026-11-27T10-00';
  return { errors: [{ field: 'period', reason: `must be a ${periodFormat} such as ${example}` }] };
}
