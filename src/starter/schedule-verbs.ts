import { type Command, Option } from 'commander';
import { accepted } from '../client/checked-input.js';
import { type ScheduleEntry, type ScheduleInput, validateScheduleInput } from '../client/schedule-spec.js';
import type { NextRun } from '../client/schedules.js';
import type { BatchInstruction } from '../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import {
  type BatchOptions,
  batchOptionsOf,
  type CommonOptions,
  given,
  PLAN,
  parseTimeout,
  withBatchOptions,
  withReason,
} from './arguments.js';
import { followLine, planText } from './batch-text.js';
import { calendarText } from './calendar-text.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { named } from './text.js';

interface CreateOptions extends BatchOptions {
  cron?: string[];
  timeZone?: string;
  filePattern: string;
  periodFormat?: 'date' | 'minute';
  waitForFile?: number;
}

const times = (dates: readonly Date[]): string => dates.map((date) => date.toISOString()).join(', ');

/** A schedule, for people. */
export function scheduleText(entry: ScheduleEntry): string {
  const { plan, paused, note, nextRuns, lastRuns, skipped } = entry;
  return named([
    ['plan', `${plan} (schedule ${entry.scheduleId})`],
    ['runs', `${entry.times.join(' and ')}, ${entry.timeZone}`],
    ['which means', entry.times.flatMap((time) => calendarText(time) ?? []).join(', and ') || undefined],
    ['file', entry.filePattern],
    ['approval', entry.approval],
    ['paused', paused ? 'yes' : 'no'],
    ['note', note],
    ['next', nextRuns.length > 0 ? times(nextRuns) : 'never: no such time comes'],
    ...lastRuns.map(({ workflowId, status }) => ['last', `${workflowId}: ${status}`] as const),
    ['skipped', skipped > 0 ? `${skipped} runs, because the one before still went on or Temporal was down` : undefined],
  ]);
}

const nextRunText = ({ period, path, plan, problem }: NextRun): string =>
  plan
    ? `the next run, ${period}, would do this now with ${path}:\n${planText(plan)}`
    : `the next run, ${period}, could not start now with ${path}: ${problem}`;

/** The input of a schedule as typed. Throws InvalidInputError; nothing is created yet. */
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
    .argument(...PLAN)
    .requiredOption(
      '--cron <expression>',
      'such as "0 10 * * FRI"; may be given again',
      (text, before: string[] = []) => [...before, text],
    )
    .option('--time-zone <name>', 'of the times and of the period, such as Europe/Berlin (default: UTC)')
    .requiredOption('--file-pattern <path>', 'below BATCH_DIR, such as payroll-{period}.csv')
    .addOption(new Option('--period-format <format>', '2026-11-27 or 2026-11-27T10-00').choices(['date', 'minute']))
    .option('--wait-for-file <duration>', 'how long the file may be missing (default: 30m)', parseTimeout);
  verbs.addChecked(withBatchOptions(create), async (run, plan: string, options: CreateOptions) => {
    const input = inputOf(plan, options);
    await run(async (orders) => {
      const entry = await orders.schedules.create(input);
      const text = `schedule of plan ${plan} ${entry.attached ? 'was there already, with these settings' : 'created'}`;
      const next = entry.nextRun && nextRunText(entry.nextRun);
      const warning = entry.warning && `warning: ${entry.warning}`;
      const lines = [text, scheduleText(entry), warning, next].filter(Boolean);
      return { exitCode: EXIT.done, json: entry, text: lines.join('\n') };
    });
  });
}

function addTrigger(schedule: Command, io: StarterIo, verbs: Verbs): void {
  const trigger = schedule
    .command('trigger')
    .description('run the batch of a period now; a period that has one is not paid again')
    .argument(...PLAN)
    .requiredOption('--period <period>', 'such as 2026-11-27')
    .option('--by <name>', 'who starts it (default: who created the schedule)');
  type TriggerOptions = CommonOptions & { period: string; by?: string };
  verbs.add(trigger, async (orders, plan: string, { account, period, by }: TriggerOptions) => {
    const { workflowId, batch } = await orders.schedules.trigger(plan, { period, by }, { account });
    const { batchId } = batch;
    const line = followLine(io.self, { account: account ?? DEFAULT_ACCOUNT, batchId });
    const text = `plan ${plan} runs for ${period} (workflow ${workflowId}). Once its file is there, follow it: ${line}; until then, or if it is not, the workflow says why`;
    return { exitCode: EXIT.done, json: { plan, period, workflowId, batchId }, text };
  });
}

const INSTRUCTIONS = [
  ['pause', 'start no more runs', 'paused'],
  ['resume', 'run by the clock again', 'resumed'],
] as const;

/** Adds `schedule create`, `list`, `pause`, `resume`, `trigger` and `delete`. */
export function addScheduleVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const schedule = program
    .command('schedule')
    .description('batches by the clock: create, list, pause, resume, trigger, delete');
  addCreate(schedule, verbs);
  const list = schedule.command('list').description('schedules with their next and last runs');
  verbs.add(list, async (orders, { account }: CommonOptions) => {
    const schedules = await orders.schedules.list({ account });
    const text = schedules.map(scheduleText).join('\n\n') || 'no schedules';
    return { exitCode: EXIT.done, json: { schedules }, text };
  });
  for (const [verb, description, done] of INSTRUCTIONS) {
    const command = withReason(schedule.command(verb).description(description)).argument(...PLAN);
    verbs.add(command, async (orders, plan: string, { account, by, reason }: CommonOptions & BatchInstruction) => {
      await orders.schedules[verb](plan, { by, reason }, { account });
      return { exitCode: EXIT.done, json: { plan, [done]: true }, text: `schedule of plan ${plan} is ${done}` };
    });
  }
  addTrigger(schedule, io, verbs);
  const remove = schedule.command('delete').description('delete a schedule; batches already started go on');
  verbs.add(remove.argument(...PLAN), async (orders, plan: string, { account }: CommonOptions) => {
    await orders.schedules.delete(plan, { account });
    const text = `schedule of plan ${plan} is deleted; batches already started go on`;
    return { exitCode: EXIT.done, json: { plan, deleted: true }, text };
  });
}
