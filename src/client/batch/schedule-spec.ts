import type { ScheduleDescription, ScheduleSpec } from '@temporalio/client';
import * as z from 'zod';
import type { ScheduledBatchInput } from '../../contract/batch/batch.js';
import { differences } from '../../contract/differences/likeness.js';
import type { FieldError } from '../../contract/failures.js';
import { DEFAULT_ACCOUNT, SCHEDULED_BATCH_WORKFLOW } from '../../contract/names.js';
import { periodAt, validateScheduledBatchInput } from '../../validation/batch-input.js';
import { fieldErrors } from '../../validation/field-errors.js';

/** Batch that starts at the times of all `cron` expressions, in `timeZone`. */
export interface ScheduleInput extends Omit<ScheduledBatchInput, 'period'> {
  /** Five fields such as `0 10 * * FRI`. A sixth is the year; a seventh, in front, the second. */
  cron: string[];
}

/** Excludes `@every` and time zones: `timeZone` also defines the period. */
const CRON_FORMAT = /^[A-Za-z0-9*,/?-]+( +[A-Za-z0-9*,/?-]+){4,6}$/;

const timesSchema = z.object({
  cron: z.array(z.string().regex(CRON_FORMAT, 'must be five fields such as 0 10 * * FRI'), 'is needed').min(1),
});

/** Checks a schedule's input by field. Temporal checks whether the times make sense. */
export function validateScheduleInput(input: unknown): { input: ScheduleInput } | { errors: FieldError[] } {
  const { cron, ...action } = { ...(input as Partial<ScheduleInput> | undefined) };
  const times = timesSchema.safeParse({ cron });
  const checked = validateScheduledBatchInput(action);
  const errors = [
    ...('errors' in checked ? checked.errors : []),
    ...(times.success ? [] : fieldErrors(times.error)),
    ...('period' in action ? [{ field: 'period', reason: 'comes from the time of each run; leave it out' }] : []),
  ];
  return errors.length > 0 ? { errors } : { input: input as ScheduleInput };
}

/** Returns the times with their text as comments: Temporal does not keep expressions. */
export const specOf = ({ cron, timeZone }: ScheduleInput): ScheduleSpec => ({
  cronExpressions: cron.map((expression) => `${expression} # ${expression}`),
  timezone: timeZone ?? 'UTC',
});

/** Error of a schedule that never runs again. */
export const NEVER_RUNS: FieldError = {
  field: 'cron',
  reason: 'never runs: no such time comes. Check that the month has this day and that the year is not over',
};

/** Returns a warning if two of the next runs have the same date as their period. */
export function sharedPeriodWarning(input: ScheduleInput, nextRuns: readonly Date[]): string | undefined {
  const { timeZone = 'UTC', periodFormat = 'date' } = input;
  const periods = nextRuns.map((at) => periodAt(at, timeZone, periodFormat));
  const shared = periods.find((period, index) => period === periods[index - 1]);
  if (shared === undefined || periodFormat !== 'date') return undefined;
  return (
    `several runs have the same period (${shared}) and so share one batch: only the first of them pays. ` +
    'If each run has a file of its own, delete this schedule and create it with --period-format minute'
  );
}

/** Returns the times as the caller wrote them. Times that another program set have no text. */
const timesOf = ({ spec }: Pick<ScheduleDescription, 'spec'>): string[] => [
  ...(spec.calendars ?? []).map(({ comment }) => comment || 'set outside this program'),
  ...(spec.intervals ?? []).map(({ every }) => `every ${every} ms`),
];

/** Returns the input of a schedule's runs. */
export const actionInputOf = ({ action }: Pick<ScheduleDescription, 'action'>): Partial<ScheduledBatchInput> =>
  (action.args?.[0] as Partial<ScheduledBatchInput> | undefined) ?? {};

/** Returns what a schedule asks for, with defaults. Who created it does not count. */
const wanted = (input: Partial<ScheduledBatchInput>): Record<string, unknown> => ({
  account: input.account ?? DEFAULT_ACCOUNT,
  timeZone: input.timeZone ?? 'UTC',
  periodFormat: input.periodFormat ?? 'date',
  filePattern: input.filePattern,
  waitForFileMs: input.waitForFileMs,
  batch: { ...input.batch, startedBy: undefined },
});

/** Returns the fields in which an existing schedule differs; [] if it is the same. */
export function scheduleDifferences(input: ScheduleInput, existing: ScheduleDescription): string[] {
  if (existing.action.workflowType !== SCHEDULED_BATCH_WORKFLOW) return ['workflow type'];
  const [mine, theirs] = [wanted(input), wanted(actionInputOf(existing))];
  const fields = Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, Object.is));
  const sameTimes = input.cron.toSorted().join('\n') === timesOf(existing).toSorted().join('\n');
  return sameTimes ? fields : ['times', ...fields];
}
