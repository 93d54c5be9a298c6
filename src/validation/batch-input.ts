import {
  type BatchInput,
  fitsInline,
  MAX_INLINE_BYTES,
  MAX_INLINE_ROWS,
  type ScheduledBatchInput,
} from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { checkedBy, type FormatChecks, presentable } from './field-errors.js';
import { batchSchema, scheduledSchema } from './input-schemas.js';
import { validateOrderInput } from './order-input.js';

/** Moves the caller's reference of a row out of the request, which has no such field. */
export function apart<Row extends { order?: unknown }>(row: Row): Row & { reference?: unknown } {
  if (!Object.hasOwn(Object(row.order), 'reference')) return row;
  const { reference, ...order } = Object(row.order);
  return { ...row, order, reference };
}

/** Returns the errors of a row, by the same rules as single orders: `rows[3].amount`. */
export function rowErrors(
  { account: name, rows, compensation, resend }: BatchInput,
  index: number,
  formatChecks: FormatChecks = 'refuse',
): FieldError[] {
  const input = { account: name ?? DEFAULT_ACCOUNT, ...apart({ order: rows?.[index] }), compensation, resend };
  const checked = validateOrderInput('withdraw', input, { formatChecks });
  if ('input' in checked) return [];
  const nameOf = (field: string) =>
    field === 'reference' ? `rows[${index}].reference` : field.replace(/^order/, `rows[${index}]`);
  return checked.errors.map(({ field, reason }) => ({ field: nameOf(field), reason }));
}

function batchRules(input: BatchInput, formatChecks: FormatChecks, uploads: boolean): FieldError[] {
  const isInline = fitsInline(input);
  const rows = isInline ? [...(input.rows?.keys() ?? [])] : [];
  const errors = rows.flatMap((index) => rowErrors(input, index, formatChecks));
  if ((input.file === undefined) === (input.rows === undefined)) {
    errors.push({ field: 'file', reason: 'exactly one of file and rows is needed' });
  }
  if (!isInline && !(uploads && input.rows)) {
    const limits = `${MAX_INLINE_ROWS} rows or ${MAX_INLINE_BYTES} bytes`;
    errors.push({ field: 'rows', reason: `are more than ${limits}; send them in a file` });
  }
  if (input.approvalExpiresMs !== undefined && input.approval !== 'required') {
    errors.push({ field: 'approvalExpiresMs', reason: "only with approval 'required'" });
  }
  return errors;
}

/**
 * Returns the checked input of a batch, or every bad field; never throws. With `uploads`, rows
 * beyond the inline limits pass unchecked.
 */
export function validateBatchInput(
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
  uploads = false,
): { input: BatchInput } | { errors: FieldError[] } {
  const checked = checkedBy(batchSchema, input);
  const errors = 'errors' in checked ? [] : batchRules(checked.input, formatChecks, uploads);
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

/** Format of a plan's periods: `2026-11-27` or `2026-11-27T10-00`. */
type PeriodFormat = 'date' | 'minute';

/**
 * Returns the period of a moment by the clock of a time zone. An hour that is repeated has the same periods twice, so
 * that its second half starts nothing.
 */
export function periodAt(at: Date, timeZone: string, format: PeriodFormat): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return format === 'date' ? date : `${date}T${part('hour')}-${part('minute')}`;
}

/** Returns true for a period as `periodAt` would tell it, on a day that exists. */
export function isPeriod(text: string, format: PeriodFormat): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3])-[0-5]\d)?$/.exec(text);
  if (!match || (match[2] === undefined) !== (format === 'date')) return false;
  const day = new Date(`${match[1]}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(`${match[1]}T`);
}

export const fileOfPeriod = (filePattern: string, period: string): string => filePattern.replaceAll('{period}', period);
