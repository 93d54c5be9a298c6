import {
  type Client,
  type ScheduleDescription,
  type ScheduleExecutionResult,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { scheduleIdOf } from '../contract/ids.js';
import { actionInputOf, timesOf } from './schedule-spec.js';
import { callTemporal } from './temporal-calls.js';

/** Runs shown per schedule. */
const SHOWN_RUNS = 3;

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
  /** Cron expressions and calendars as they were given. */
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

async function statusOf(client: Client, workflowId: string, runId: string): Promise<string> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'no longer known to Temporal';
    throw error;
  }
}

async function readRun(client: Client, { scheduledAt, action }: ScheduleExecutionResult): Promise<ScheduleRun> {
  const { workflowId, firstExecutionRunId } = action.workflow;
  return { workflowId, scheduledAt, status: await statusOf(client, workflowId, firstExecutionRunId) };
}

/** A schedule with the state of its last runs. */
export async function readScheduleEntry(
  client: Client,
  { plan, account }: Pick<ScheduleEntry, 'plan' | 'account'>,
  description: ScheduleDescription,
): Promise<ScheduleEntry> {
  const { info, spec, state } = description;
  const lastRuns = await callTemporal(client, () =>
    Promise.all(info.recentActions.slice(-SHOWN_RUNS).map((run) => readRun(client, run))),
  );
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
    nextRuns: info.nextActionTimes.slice(0, SHOWN_RUNS),
    lastRuns,
    skipped: info.numActionsSkippedOverlap + info.numActionsMissedCatchupWindow,
  };
}
