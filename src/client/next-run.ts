import type { Client } from '@temporalio/client';
import type { BatchPlan } from '../contract/batch/batch.js';
import { DEFAULT_ACCOUNT, periodBatchId } from '../contract/names.js';
import { fileOfPeriod, periodAt } from '../validation/periods.js';
import { planBatch } from './batches.js';
import { FailedError, InvalidInputError, NoWorkerError } from './errors.js';
import type { ScheduleInput } from './schedule-spec.js';
import { isAccountServed } from './service-calls.js';

/** What the next run of a schedule would do now. */
export interface NextRun {
  period: string;
  /** The file of the period, below BATCH_DIR. */
  path: string;
  /** The plan of that file, if it exists and is good. */
  plan?: BatchPlan;
  /** Why there is no plan: the file is missing or has bad rows, or no worker could look. */
  problem?: string;
}

/** Fields that are about the content of a file, which may still be mended before the run. */
const OF_CONTENT = /^(file|rows|line \d+: .*)$/;

/** Plans the file of a schedule's next run. Throws InvalidInputError if no run of this schedule could start. */
export async function checkNextRun(client: Client, input: ScheduleInput, at: Date): Promise<NextRun> {
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
    // Without the payload keys, for instance, the plan cannot be read here.
    if (!(error instanceof FailedError)) return { period, path, problem: 'not checked: the plan could not be read' };
    const isHopeless = error.type === 'InvalidInput' && !error.fields.some(({ field }) => OF_CONTENT.test(field));
    if (isHopeless) throw new InvalidInputError(error.fields);
    const shown = error.fields.slice(0, 3).map(({ field, reason }) => `${field}: ${reason}`);
    return { period, path, problem: shown.join('; ') || error.message };
  }
}
