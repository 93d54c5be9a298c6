import { posix } from 'node:path';
import * as z from 'zod';
import {
  type BatchInput,
  inlineBytes,
  MAX_IN_FLIGHT,
  MAX_INLINE_BYTES,
  MAX_INLINE_ROWS,
  type ScheduledBatchInput,
} from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { BATCH_ID_FORMAT, DEFAULT_ACCOUNT, PLAN_FORMAT } from '../contract/names.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { checkedBy, type FormatChecks, presentable } from './field-errors.js';
import { optionSchemas, validateOrderInput } from './order-input.js';
import { isPeriod } from './periods.js';
import { nameSchema, shownName } from './request-schemas.js';

/** Longest wait for an approval or for a file, 90 days in milliseconds. */
const MAX_WAIT_MS = 90 * 86_400_000;

const wait = z.int().min(1).max(MAX_WAIT_MS);
const { account, compensation, resend } = optionSchemas;

/** How the name of a batch file ends. */
export const BATCH_FILE_ENDING = /\.(csv|ndjson|jsonl)$/i;

/** A path below BATCH_DIR; whether it stays there shows only where the folder is, on the worker. */
const path = z
  .string()
  .min(1, 'required')
  .max(500)
  .regex(/^[^\p{Cc}]*$/u, 'contains control characters')
  .refine((value) => !/^[/\\]|^[A-Za-z]:[/\\]/.test(value), 'must be relative to BATCH_DIR')
  .refine(
    (value) => !value.split('/').includes('..') && posix.normalize(value) === value,
    'must be a plain path below BATCH_DIR, such as "2026/payroll.csv"',
  )
  .regex(BATCH_FILE_ENDING, 'must end in .csv, .ndjson or .jsonl');

const options = {
  /** 'required': waits until somebody other than `startedBy` approves the plan's digest. 'none' when omitted. */
  approval: z.enum(['required', 'none']).optional(),
  /** How long it waits for the approval; 24 h when omitted. */
  approvalExpiresMs: wait.optional(),
  /** Who started it: a claim, unless Temporal authorises its callers. */
  startedBy: nameSchema,
  compensation,
  resend,
  maxInFlight: z.int().min(1).max(MAX_IN_FLIGHT).optional(),
  stopAfter: z
    .strictObject({
      /** It stops after so many rows that ended otherwise than `completed`. */
      failures: z.int().min(1).optional(),
    })
    .optional(),
};

const batchSchema = z.strictObject({
  ...options,
  account,
  /** Names the batch for ever; part of the workflow id. Only a plan may omit it. */
  batchId: shownName(BATCH_ID_FORMAT, 'must be 1 to 120 of A-Z a-z 0-9 . _ -').optional(),
  file: z
    .strictObject({
      path,
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
        .optional(),
    })
    .optional(),
  // Each row is checked as an order of its own.
  rows: z.array(z.custom<WithdrawRequest>()).min(1).max(MAX_INLINE_ROWS).optional(),
  /** Rows whose id ended without an order at the service are started anew. */
  again: z.boolean().optional(),
  /** Check and plan only; starts no order. */
  planOnly: z.boolean().optional(),
  /** ISO time after which nothing new is sent. */
  latestSend: optionSchemas.latestSend,
});

/** What the schema of a batch admits. */
export type BatchShape = z.infer<typeof batchSchema>;

const scheduledSchema = z.strictObject({
  account,
  plan: shownName(PLAN_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  /** IANA name in which the period is told; UTC when omitted. */
  timeZone: z.string().refine(isTimeZone, 'must be a time zone such as UTC or Europe/Berlin').optional(),
  /** 'date': 2026-11-27; 'minute': 2026-11-27T10-00. 'date' when omitted. */
  periodFormat: z.enum(['date', 'minute']).optional(),
  /** Given by a trigger; otherwise derived from the schedule's nominal time. */
  period: z.string().optional(),
  /** Path below BATCH_DIR with `{period}` in it. */
  filePattern: path.refine((value) => value.includes('{period}'), 'must contain {period}'),
  /** How long the file may be missing or growing; 30 min when omitted. */
  waitForFileMs: wait.optional(),
  // Neither `again` nor `latestSend`: both are about one batch, a schedule would repeat them for all that follow.
  batch: z.strictObject(options),
});

/** What the schema of a scheduled batch admits. */
export type ScheduledBatchShape = z.infer<typeof scheduledSchema>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

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
