import {
  type CalendarSpecDescription,
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import type { BatchPlan, BatchResult, ScheduledBatchInput } from '../../contract/batch/batch.js';
import {
  DEFAULT_ACCOUNT,
  ORDERS_TASK_QUEUE,
  periodBatchId,
  SCHEDULED_BATCH_WORKFLOW,
  scheduledBatchWorkflowId,
  scheduleIdOf,
  searchAttribute,
} from '../../contract/names.js';
import { fileOfPeriod, periodAt, validateScheduledBatchInput } from '../../validation/batch-input.js';
import { bounded, type WaitOptions } from '../bounded.js';
import { accepted } from '../checked-input.js';
import { ConflictError, FailedError, InvalidInputError, NoWorkerError, UnknownIdError } from '../errors.js';
import { isAccountServed } from '../served.js';
import { callTemporal, throwNoWorker } from '../temporal-calls.js';
import { BatchHandle } from './batch-handle.js';
import {
  actionInputOf,
  NEVER_RUNS,
  type ScheduleInput,
  scheduleDifferences,
  sharedPeriodWarning,
  specOf,
  validateScheduleInput,
} from './schedule-spec.js';
import { planBatch } from './start-batch.js';

/** Missed runs start within this time after an outage. Temporal's default is a year. */
const CATCH_UP_MS = 3_600_000;
/** Note of a schedule that is paused until its first check has ended. */
const BEING_CHECKED = 'is being checked; `schedule create` with the same settings ends the check';
type ScheduledWorkflow = (input: ScheduledBatchInput) => Promise<BatchResult>;

/** Preview of a schedule's next run. */
export interface NextRun {
  period: string;
  /** Path of the period's file, below BATCH_DIR. */
  path: string;
  /** Plan of that file, if it exists and is valid. */
  plan?: BatchPlan;
  /** Why there is no plan: the file is missing or invalid, or no worker answered. */
  problem?: string;
}

/** Identifies the plan of a call. */
export interface PlanOptions {
  account?: string;
}

function scheduleOptions(input: ScheduleInput): ScheduleOptions {
  const { cron: _, ...args } = input;
  const account = input.account ?? DEFAULT_ACCOUNT;
  return {
    scheduleId: scheduleIdOf(account, input.plan),
    spec: specOf(input),
    policies: { overlap: 'SKIP', catchupWindow: CATCH_UP_MS, pauseOnFailure: true },
    // Nothing runs before the check, also if the caller ends within it.
    state: { paused: true, note: BEING_CHECKED },
    action: {
      type: 'startWorkflow',
      workflowType: SCHEDULED_BATCH_WORKFLOW,
      // Temporal appends the time.
      workflowId: scheduledBatchWorkflowId(account, input.plan),
      taskQueue: ORDERS_TASK_QUEUE,
      args: [args],
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      staticSummary: `batch of plan ${input.plan}`,
    },
  };
}

/** Result of `create`. */
export interface CreatedSchedule {
  /** Temporal's schedule id, for `temporal schedule` and `client.schedule.getHandle`. */
  scheduleId: string;
  /** The schedule already existed with these settings. */
  attached: boolean;
  /** Temporal's interpretation of the expressions. */
  calendars: CalendarSpecDescription[];
  /** Next five times; [] if there are none. */
  nextRuns: Date[];
  nextRun?: NextRun;
  /** Effect of the settings that is probably not intended. */
  warning?: string;
}

/** Number of dates to show. */
const SHOWN_DATES = 5;

/** Schedules of batches. Use `temporal schedule` to list, pause and delete them. */
export class Schedules {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Creates a schedule, or finds the same one, and plans the file of its next run; until then it
   * is paused. Throws ConflictError, and InvalidInputError if no run could start; after a time-out,
   * call again.
   */
  async create(input: ScheduleInput, wait: WaitOptions = {}): Promise<CreatedSchedule> {
    const checked = accepted(validateScheduleInput(input));
    const over = () => throwNoWorker(this.#client);
    return bounded(this.#client, wait, () => this.#create(checked), over);
  }

  async #create(checked: ScheduleInput): Promise<CreatedSchedule> {
    const { plan, account = DEFAULT_ACCOUNT } = checked;
    const attached = !(await this.#createUnlessThere(checked));
    const description = await this.#call(plan, { account }, (handle) => handle.describe());
    if (attached) {
      const fields = scheduleDifferences(checked, description);
      if (fields.length > 0) throw new ConflictError('schedule', plan, fields);
    }
    const { nextActionTimes, recentActions } = description.info;
    const warning = sharedPeriodWarning(checked, nextActionTimes);
    const nextRuns = nextActionTimes.slice(0, SHOWN_DATES);
    const { calendars = [] } = description.spec;
    const scheduleId = scheduleIdOf(account, plan);
    const entry = { scheduleId, attached, calendars, nextRuns, ...(warning && { warning }) };
    const [next] = nextRuns;
    try {
      if (!next && isBeingChecked(description) && recentActions.length === 0) throw new InvalidInputError([NEVER_RUNS]);
      const nextRun = next && (await checkNextRun(this.#client, checked, next));
      await this.#endCheck(checked, (handle) => handle.unpause('checked'));
      return nextRun ? { ...entry, nextRun } : entry;
    } catch (error) {
      if (error instanceof InvalidInputError) await this.#endCheck(checked, (handle) => handle.delete());
      throw error;
    }
  }

  /** Ends the first check of a schedule, unless a person or another caller has ended it. */
  async #endCheck(input: ScheduleInput, end: (handle: ScheduleHandle) => Promise<unknown>): Promise<void> {
    await this.#call(input.plan, input, async (handle) => {
      if (isBeingChecked(await handle.describe())) await end(handle);
    });
  }

  /** Runs the batch of a period now. If the batch exists, nothing is sent. */
  async trigger(
    plan: string,
    { period, by }: { period: string; by?: string },
    { account = DEFAULT_ACCOUNT, ...wait }: PlanOptions & WaitOptions = {},
  ): Promise<{ workflowId: string; batch: BatchHandle }> {
    return callTemporal(this.#client, () => this.#trigger(plan, { period, by }, account), wait);
  }

  async #trigger(plan: string, { period, by }: { period: string; by?: string }, account: string) {
    const input = actionInputOf(await this.#call(plan, { account }, (handle) => handle.describe()));
    const batch = by === undefined ? input.batch : { ...input.batch, startedBy: by };
    const args = [accepted(validateScheduledBatchInput({ ...input, batch, period }))] as [ScheduledBatchInput];
    const workflowId = `${scheduledBatchWorkflowId(account, plan)}-${period}`;
    await this.#client.workflow.start<ScheduledWorkflow>(SCHEDULED_BATCH_WORKFLOW, {
      workflowId,
      taskQueue: ORDERS_TASK_QUEUE,
      args,
      // The batch id prevents a second payment of a period. A trigger that found no file may be
      // repeated.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      staticSummary: `batch of plan ${plan}, period ${period}`,
    });
    return { workflowId, batch: new BatchHandle(this.#client, account, periodBatchId(plan, period)) };
  }

  async #createUnlessThere(input: ScheduleInput): Promise<boolean> {
    try {
      await callTemporal(this.#client, () => this.#client.schedule.create(scheduleOptions(input)));
      return true;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return false;
      // The SDK throws a TypeError for times that it cannot parse.
      if (error instanceof TypeError) throw new InvalidInputError([{ field: 'times', reason: error.message }]);
      throw error;
    }
  }

  async #call<T>(
    plan: string,
    { account = DEFAULT_ACCOUNT }: PlanOptions = {},
    call: (handle: ScheduleHandle) => Promise<T>,
  ): Promise<T> {
    try {
      return await callTemporal(this.#client, () => call(this.#client.schedule.getHandle(scheduleIdOf(account, plan))));
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) throw new UnknownIdError('schedule', plan, account);
      throw error;
    }
  }
}

const isBeingChecked = ({ state: { paused, note } }: ScheduleDescription): boolean => paused && note === BEING_CHECKED;

/** Fields about the content of a file, which may be corrected before the run. */
const OF_CONTENT = /^(file|rows|line \d+: .*)$/;

/** Plans the file of the next run. Throws InvalidInputError if no run could start. */
async function checkNextRun(client: Client, input: ScheduleInput, at: Date): Promise<NextRun> {
  const { account = DEFAULT_ACCOUNT, plan, timeZone = 'UTC', periodFormat = 'date', filePattern, batch } = input;
  const period = periodAt(at, timeZone, periodFormat);
  const path = fileOfPeriod(filePattern, period);
  const noWorker = { period, path, problem: `not checked: no worker that serves account ${account} answers` };
  if (!(await isAccountServed(client, account))) return noWorker;
  try {
    const file = { ...batch, account, batchId: periodBatchId(plan, period), file: { path } };
    return { period, path, plan: await planBatch(client, file) };
  } catch (error) {
    if (error instanceof NoWorkerError) return noWorker;
    // For example, the plan cannot be read here without the payload keys.
    if (!(error instanceof FailedError)) return { period, path, problem: 'not checked: the plan could not be read' };
    const isHopeless = error.type === 'InvalidInput' && !error.fields.some(({ field }) => OF_CONTENT.test(field));
    if (isHopeless) throw new InvalidInputError(error.fields);
    const shown = error.fields.slice(0, 3).map(({ field, reason }) => `${field}: ${reason}`);
    return { period, path, problem: shown.join('; ') || error.message };
  }
}
