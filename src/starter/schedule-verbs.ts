import type { CalendarSpecDescription } from '@temporalio/client';
import { type Command, Option } from 'commander';
import { type ScheduleInput, validateScheduleInput } from '../client/batch/schedule-spec.js';
import type { CreatedSchedule, NextRun } from '../client/batch/schedules.js';
import { accepted } from '../client/checked-input.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import {
  type BatchOptions,
  batchOptionsOf,
  type CommonOptions,
  given,
  parseTimeout,
  withBatchOptions,
} from './arguments.js';
import { followLine, planText } from './batch-text.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { named } from './text.js';

interface CreateOptions extends BatchOptions {
  cron?: string[];
  timeZone?: string;
  filePattern: string;
  periodFormat?: 'date' | 'minute';
  waitForFile?: number;
}

const list = new Intl.ListFormat('en');
const plural = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
const ordinal = (day: number | string): string => `${day}${SUFFIXES[plural.select(Number(day))] ?? 'th'}`;
const capital = (name: number | string): string => `${name}`.replace(/\B./g, (letter) => letter.toLowerCase());

/** Values of a calendar part, as Temporal compiles a cron expression. */
type Ranges = readonly { start: number | string; end: number | string; step: number }[];

const isEvery = ([first]: Ranges, start: number | string, end: number | string): boolean =>
  first?.start === start && first.end === end && first.step === 1;

const inWords = (ranges: Ranges, shown: (value: number | string) => string): string =>
  list.format(
    ranges.map(({ start, end, step }) => {
      const values = start === end ? shown(start) : `${shown(start)} to ${shown(end)}`;
      return step === 1 ? values : `${values}, every ${ordinal(step)}`;
    }),
  );

/**
 * Explains the days of a calendar: `on the 1st and 15th if a Friday`. Unlike in other cron
 * programs, both must match.
 */
export function calendarText({ dayOfMonth, month, dayOfWeek }: CalendarSpecDescription): string {
  const weekdays = isEvery(dayOfWeek, 'SUNDAY', 'SATURDAY') ? '' : inWords(dayOfWeek, capital);
  const months = isEvery(month, 'JANUARY', 'DECEMBER') ? '' : ` in ${inWords(month, capital)}`;
  if (isEvery(dayOfMonth, 1, 31)) return `${weekdays ? `on ${weekdays}` : 'every day'}${months}`;
  const skipped = [29, 30, 31].filter((day) =>
    dayOfMonth.some(({ start, end, step }) => day >= start && day <= end && (day - start) % step === 0),
  );
  const skips = skipped.length > 0 ? `; months without day ${skipped.join(' or ')} are skipped` : '';
  return `on the ${inWords(dayOfMonth, ordinal)}${weekdays && ` if a ${weekdays}`}${months}${skips}`;
}

/** Returns a created or found schedule as text. */
function scheduleText({ cron, timeZone = 'UTC' }: ScheduleInput, created: CreatedSchedule): string {
  const { scheduleId, attached, calendars, nextRuns, nextRun, warning } = created;
  const next = nextRuns.map((date) => date.toISOString()).join(', ');
  const rows = named([
    ['runs', `${cron.join(' and ')}, ${timeZone}`],
    ['which days', calendars.map(calendarText).join(', and ')],
    ['next', next || 'never: no such time comes'],
    ['to see, pause or delete it', `temporal schedule describe|toggle|delete --schedule-id ${scheduleId}`],
  ]);
  const text = `schedule ${scheduleId} ${attached ? 'was there already, with these settings' : 'created'}`;
  return [text, rows, warning && `warning: ${warning}`, nextRun && nextRunText(nextRun)].filter(Boolean).join('\n');
}

const nextRunText = ({ period, path, plan, problem }: NextRun): string =>
  plan
    ? `the next run, ${period}, would do this now with ${path}:\n${planText(plan)}`
    : `the next run, ${period}, could not start now with ${path}: ${problem}`;

/** Returns a schedule's input as typed. Throws InvalidInputError; nothing is created. */
function inputOf(plan: string, options: CreateOptions): ScheduleInput {
  const { account, cron, timeZone, filePattern, periodFormat, waitForFile } = options;
  const file = { filePattern, periodFormat, waitForFileMs: waitForFile };
  return accepted(
    validateScheduleInput(given({ account, plan, cron, timeZone, ...file, batch: batchOptionsOf(options) })),
  );
}

function addCreate(schedule: Command, verbs: Verbs): void {
  const create = schedule
    .command('create')
    .description("start a plan's batch by the clock; the same settings again change nothing")
    .argument('<plan>', 'name of the payout plan')
    .requiredOption(
      '--cron <expression>',
      'such as "0 10 * * FRI"; may be given again',
      (text, before: string[] = []) => [...before, text],
    )
    .option('--time-zone <name>', 'zone of times and period, such as Europe/Berlin (default: UTC)')
    .requiredOption('--file-pattern <path>', 'below BATCH_DIR, such as payroll-{period}.csv')
    .addOption(new Option('--period-format <format>', '2026-11-27 or 2026-11-27T10-00').choices(['date', 'minute']))
    .option('--wait-for-file <duration>', 'how long the file may be missing (default: 30m)', parseTimeout);
  verbs.add(withBatchOptions(create), async (connect, plan: string, options: CreateOptions) => {
    const input = inputOf(plan, options);
    const created = await (await connect()).schedules.create(input);
    return { exitCode: EXIT.done, json: created, text: scheduleText(input, created) };
  });
}

function addTrigger(schedule: Command, io: StarterIo, verbs: Verbs): void {
  const trigger = schedule
    .command('trigger')
    .description('run the batch of a period now; a period that has one is not paid again')
    .argument('<plan>', 'name of the payout plan')
    .requiredOption('--period <period>', 'such as 2026-11-27')
    .option('--by <name>', 'who starts it (default: who created the schedule)');
  type TriggerOptions = CommonOptions & { period: string; by?: string };
  verbs.add(trigger, async (connect, plan: string, { account, period, by }: TriggerOptions) => {
    const { schedules } = await connect();
    const { workflowId, batch } = await schedules.trigger(plan, { period, by }, { account });
    const { batchId } = batch;
    const line = followLine(io.self, { account: account ?? DEFAULT_ACCOUNT, batchId });
    const text = `plan ${plan} runs for ${period} (workflow ${workflowId}). Once its file is there, follow it: ${line}; until then, or if it is not, the workflow says why`;
    return { exitCode: EXIT.done, json: { plan, period, workflowId, batchId }, text };
  });
}

/** Adds `schedule create` and `trigger`. `temporal schedule` does the rest. */
export function addScheduleVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const schedule = program.command('schedule').description('batches by the clock: create, trigger');
  addCreate(schedule, verbs);
  addTrigger(schedule, io, verbs);
}
