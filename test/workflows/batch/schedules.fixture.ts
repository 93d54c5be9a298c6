import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import type { ScheduleInput } from '../../../src/client/batch/schedule-spec.js';
import type { BatchResult, ScheduledBatchInput } from '../../../src/contract/batch/batch.js';
import { newOrderId } from '../../support/lab.js';
import { type BatchLab, csvOf, type TestRow, testRows } from './batches.fixture.js';

/** The period of triggers. */
export const PERIOD = '2026-11-20';
/** Comes in decades: such a schedule is only triggered. */
const IN_DECADES = '0 0 29 2 * 2092';

/** The `scheduledBatch` workflow as clients see it. */
export type ScheduledWorkflow = (input: ScheduledBatchInput) => Promise<BatchResult>;

/** Path of a plan's file. */
export const fileOf = ({ folder }: BatchLab, plan: string, period = PERIOD): string =>
  join(folder, `${plan}-${period}.csv`);

/** Dates the file back by an hour: nobody waits for it to come to rest. */
export async function makeOld(lab: BatchLab, plan: string, period = PERIOD): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(fileOf(lab, plan, period), hourAgo, hourAgo);
}

/** Writes the file of a period that rests already. */
export async function writeOld(
  lab: BatchLab,
  plan: string,
  period = PERIOD,
  rows = testRows(plan, 3),
): Promise<TestRow[]> {
  await writeFile(fileOf(lab, plan, period), csvOf(rows));
  await makeOld(lab, plan, period);
  return rows;
}

/** Creates a schedule and returns its plan. */
export async function schedule(
  { orders }: BatchLab,
  label: string,
  change: Partial<ScheduleInput> = {},
  plan = newOrderId(label),
): Promise<string> {
  await orders.schedules.create({
    plan,
    cron: [IN_DECADES],
    filePattern: `${plan}-{period}.csv`,
    waitForFileMs: 60_000,
    batch: { startedBy: 'ann' },
    ...change,
  });
  return plan;
}

/** Triggers a period; `run` is its scheduled run. */
export async function trigger(
  { orders, temporal }: BatchLab,
  plan: string,
): Promise<{ run: WorkflowHandle<ScheduledWorkflow>; batch: BatchHandle }> {
  const { workflowId, batch } = await orders.schedules.trigger(plan, { period: PERIOD });
  return { run: temporal.client.workflow.getHandle<ScheduledWorkflow>(workflowId), batch };
}
