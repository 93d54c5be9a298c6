import type { ScheduleDescription, ScheduleSpec } from '@temporalio/client';
import * as z from 'zod';
import type { ScheduledBatchInput } from '../contract/batch/batch.js';
import { differences } from '../contract/differences/likeness.js';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT, SCHEDULED_BATCH_WORKFLOW } from '../contract/names.js';
import { periodAt, validateScheduledBatchInput } from '../validation/batch-input.js';
import { fieldErrors } from '../validation/field-errors.js';

/** A batch that is started at the times of all expressions of `cron`, in `timeZone`. */
export interface ScheduleInput extends Omit<ScheduledBatchInput, 'period'> {
  /** Five fields such as `0 10 * * FRI`; a sixth is the year, a seventh in front the second. */
  cron: string[];
}

/** Neither `@every` nor a time zone of its own: `timeZone` tells the period too, and the two must not differ. */
const CRON_FORMAT = /^[A-Za-z0-9*,/?-]+( +[A-Za-z0-9*,/?-]+){4,6}$/;

const timesSchema = z.object({
  cron: z.array(z.string().regex(CRON_FORMAT, 'must be five fields such as 0 10 * * FRI'), 'is needed').min(1),
});

/** Checks the input of a schedule; every bad field is named. Whether the times make sense is said by Temporal. */
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

/** Returns the times of the schedule, each with its text as a comment: Temporal keeps no expression. */
export const specOf = ({ cron, timeZone }: ScheduleInput): ScheduleSpec => ({
  cronExpressions: cron.map((expression) => `${expression} # ${expression}`),
  timezone: timeZone ?? 'UTC',
});

/** Error of a schedule without any time to come. */
export const NEVER_RUNS: FieldError = {
  field: 'cron',
  reason: 'never runs: no such time comes. Check that the month has this day and that the year is not over',
};

/** Returns a warning if two of the next runs share a date as their period. */
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

/** The times of a schedule as they were given; what somebody set elsewhere has no text. */
const timesOf = ({ spec }: Pick<ScheduleDescription, 'spec'>): string[] => [
  ...(spec.calendars ?? []).map(({ comment }) => comment || 'set outside this program'),
  ...(spec.intervals ?? []).map(({ every }) => `every ${every} ms`),
];

/** What the runs of a schedule are given. */
export const actionInputOf = ({ action }: Pick<ScheduleDescription, 'action'>): Partial<ScheduledBatchInput> =>
  (action.args?.[0] as Partial<ScheduledBatchInput> | undefined) ?? {};

/** What a schedule asks for, with the defaults filled in; who created it is not part of it. */
const wanted = (input: Partial<ScheduledBatchInput>): Record<string, unknown> => ({
  account: input.account ?? DEFAULT_ACCOUNT,
  timeZone: input.timeZone ?? 'UTC',
  periodFormat: input.periodFormat ?? 'date',
  filePattern: input.filePattern,
  waitForFileMs: input.waitForFileMs,
  batch: { ...input.batch, startedBy: undefined },
});

/** Fields in which an existing schedule differs from what is asked for; [] = it is the same one. */
export function scheduleDifferences(input: ScheduleInput, existing: ScheduleDescription): string[] {
  if (existing.action.workflowType !== SCHEDULED_BATCH_WORKFLOW) return ['workflow type'];
  const [mine, theirs] = [wanted(input), wanted(actionInputOf(existing))];
  const fields = Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, Object.is));
  const sameTimes = input.cron.toSorted().join('\n') === timesOf(existing).toSorted().join('\n');
  return sameTimes ? fields : ['times', ...fields];
}
