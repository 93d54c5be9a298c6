import type { BatchShape, ScheduledBatchShape } from '../../validation/batch-schema.js';

/** Rows that may be given inline instead of in a file. */
export const MAX_INLINE_ROWS = 200;
/** Orders of one batch that may be open at the same time. */
export const MAX_IN_FLIGHT = 500;
/** Orders of one batch open at the same time, unless the input says otherwise. */
export const DEFAULT_IN_FLIGHT = 100;
/** Currencies of one batch: its plan and its progress name each of them, and no payload of a batch may exceed 100 KB. */
export const MAX_CURRENCIES = 50;
/** Longest batch input as JSON, in bytes: it is written into the history with every step. Larger ones need a file. */
export const MAX_INLINE_BYTES = 50_000;

/** Bytes of a batch input as JSON in UTF-8. */
export const inlineBytes = (input: BatchInput): number => new TextEncoder().encode(JSON.stringify(input)).length;

/** Input of the `bulkWithdraw` workflow. Exactly one of `file` and `rows`. */
export type BatchInput = BatchShape;

/** A file below BATCH_DIR of the workers: `path` relative to it. `sha256` (hex) pins its bytes; another content is refused. */
export type BatchFile = NonNullable<BatchInput['file']>;

/** When a batch sends nothing new by itself; what was started is followed to its end. */
export type StopAfter = NonNullable<BatchInput['stopAfter']>;

/** Input of the `scheduledBatch` workflow. `batch` is the input of the batch it starts, without file and batchId. */
export type ScheduledBatchInput = ScheduledBatchShape;

/** How a plan's periods are told: `2026-11-27`, or `2026-11-27T10-00`. */
export type PeriodFormat = 'date' | 'minute';

/**
 * The period that a moment belongs to, by the clock of a time zone. An hour that is repeated when summer time ends has
 * the same periods twice, so that its second half starts nothing. Not for workflow code: time zone data changes.
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

/** True for a period as `periodAt` would tell it, on a day that exists. */
export function isPeriod(text: string, format: PeriodFormat): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3])-[0-5]\d)?$/.exec(text);
  if (!match || (match[2] === undefined) !== (format === 'date')) return false;
  const day = new Date(`${match[1]}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(`${match[1]}T`);
}

/** The file of a period: `{period}` filled in, wherever it stands. */
export const fileOfPeriod = (filePattern: string, period: string): string => filePattern.replaceAll('{period}', period);
