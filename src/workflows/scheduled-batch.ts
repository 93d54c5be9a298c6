import { defineSearchAttributeKey } from '@temporalio/common';
import { ApplicationFailure, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  BATCH_INCOMPLETE,
  type BatchResult,
  type ScheduledBatchInput,
  shownInterruption,
} from '../contract/batch/batch.js';
import { failureOf, untilKnown } from './activity-calls.js';

/** Set by Temporal on what a schedule starts: the time the schedule meant, not the one at which it got round to it. */
const SCHEDULED_START_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

const { awaitBatchFile } = proxyActivities<Activities>({ ...untilKnown, summary: 'Which file is of this period?' });
const { runBatch } = proxyActivities<Activities>({ ...untilKnown, summary: 'Run the batch, or follow it' });

/**
 * Runs the batch of one period, pinned to its file's hash, or follows the one that the period has already. Fails, and so
 * pauses its schedule, where people were not paid and nothing else goes on by itself. Orders that exist never fail it,
 * however they ended: one recipient's closed account must not hold up the next payroll.
 */
export async function scheduledBatch(input: ScheduledBatchInput): Promise<BatchResult> {
  const scheduledAt = workflowInfo().typedSearchAttributes.get(SCHEDULED_START_TIME);
  try {
    const batch = await awaitBatchFile({ input, ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }) });
    const result = await runBatch(batch);
    refuseIncomplete(result);
    return result;
  } catch (error) {
    throw failureOf(error) ?? error;
  }
}

function refuseIncomplete(result: BatchResult): void {
  const { batchId, rows, stopped, outcomes, report } = result;
  const { refused, conflict, notStarted } = outcomes;
  const without = refused + conflict + notStarted;
  if (!stopped && without === 0) return;
  const parts = [
    `${without} of ${rows} rows of batch ${batchId} have no order (refused ${refused}, conflict ${conflict}, not started ${notStarted})`,
    ...(stopped ? [stopped].map(shownInterruption).map(({ by, reason }) => `stopped by ${by}: ${reason}`) : []),
    ...(report ? [`report ${report.path}`] : []),
    'mend the rows and start them with `again`, then resume the schedule',
  ];
  throw ApplicationFailure.nonRetryable(parts.join('; '), BATCH_INCOMPLETE, result);
}
