import type { Client, ScheduleDescription, ScheduleExecutionResult, ScheduleSpec } from '@temporalio/client';
import * as z from 'zod';
import type { ScheduledBatchInput } from '../contract/batch/batch.js';
import { differences } from '../contract/differences/likeness.js';
import type { FieldError } from '../contract/failures.js';
import { DEFAULT_ACCOUNT, SCHEDULED_BATCH_WORKFLOW, scheduleIdOf } from '../contract/names.js';
import { validateScheduledBatchInput } from '../validation/batch-input.js';
import { fieldErrors } from '../validation/field-errors.js';
import { periodAt } from '../validation/periods.js';
import { describeRun } from './standing.js';

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

/**
 * Times of the schedule. Temporal keeps only what an expression compiles to, so each carries its text as a comment, for
 * people who look at the schedule and for comparing with a second create.
 */
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

/** Runs shown per schedule. */
const SHOWN_RUNS = 3;
/** Dates shown per schedule. */
const SHOWN_DATES = 5;

/** A run that a schedule started; `status` is Temporal's, such as RUNNING, COMPLETED or FAILED. */
export interface ScheduleRun {
  workflowId: string;
  scheduledAt: Date;
  status: string;
}

/** A schedule as Temporal has it now. */
export interface ScheduleEntry {
  plan: string;
  account: string;
  scheduleId: string;
  /** Cron expressions as they were given. */
  times: string[];
  timeZone: string;
  filePattern: string | undefined;
  /** Whether somebody has to approve each batch. */
  approval: 'required' | 'none';
  paused: boolean;
  /** Who paused or resumed it and why; after a failure, Temporal's words. */
  note: string | undefined;
  nextRuns: Date[];
  /** The newest ones it started, oldest first; runs by `trigger` are not among them. */
  lastRuns: ScheduleRun[];
  /** Runs that fell out because the one before was still going on, or because Temporal was down too long. */
  skipped: number;
}

async function readRun(client: Client, { scheduledAt, action }: ScheduleExecutionResult): Promise<ScheduleRun> {
  const { workflowId, firstExecutionRunId } = action.workflow;
  const run = await describeRun(client, workflowId, firstExecutionRunId);
  return { workflowId, scheduledAt, status: run?.status.name ?? 'no longer known to Temporal' };
}

/** A schedule with the state of its last runs. */
export async function readScheduleEntry(
  client: Client,
  { plan, account = DEFAULT_ACCOUNT }: { plan: string; account?: string },
  description: ScheduleDescription,
): Promise<ScheduleEntry> {
  const { info, spec, state } = description;
  const lastRuns = await Promise.all(info.recentActions.slice(-SHOWN_RUNS).map((run) => readRun(client, run)));
  return {
    plan,
    account,
    scheduleId: scheduleIdOf(account, plan),
    times: timesOf(description),
    timeZone: spec.timezone || 'UTC',
    filePattern: actionInputOf(description).filePattern,
    approval: actionInputOf(description).batch?.approval ?? 'none',
    paused: state.paused,
    note: state.note || undefined,
    nextRuns: info.nextActionTimes.slice(0, SHOWN_DATES),
    lastRuns,
    skipped: info.numActionsSkippedOverlap + info.numActionsMissedCatchupWindow,
  };
}
