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

/** Time that the schedule meant, set by Temporal. */
const SCHEDULED_START_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

const { awaitBatchFile } = proxyActivities<Activities>({ ...untilKnown, summary: 'Which file is of this period?' });
const { runBatch } = proxyActivities<Activities>({ ...untilKnown, summary: 'Run the batch, or follow it' });

/** Runs or follows the batch of one period. Rows without an order fail it. */
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
  if (without === 0) return;
  const parts = [
    `${without} of ${rows} rows of batch ${batchId} have no order (refused ${refused}, conflict ${conflict}, not started ${notStarted})`,
    ...(stopped ? [stopped].map(shownInterruption).map(({ by, reason }) => `stopped by ${by}: ${reason}`) : []),
    ...(report ? [`report ${report.path}`] : []),
    'correct the rows and start them with `again`, then resume the schedule',
  ];
  throw ApplicationFailure.nonRetryable(parts.join('; '), BATCH_INCOMPLETE, result);
}
