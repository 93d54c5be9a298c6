import { defineSearchAttributeKey } from '@temporalio/common';
import { ApplicationFailure, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  BATCH_INCOMPLETE,
  type BatchResult,
  type ScheduledBatchInput,
  shownInterruption,
} from '../contract/batch/batch.js';
import { untilKnown } from './profiles.js';
import { failureOf } from './watch.js';

/** Set by Temporal on what a schedule starts: the time the schedule meant, not the one at which it got round to it. */
const SCHEDULED_START_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

const { awaitBatchFile, runBatch } = proxyActivities<Activities>(untilKnown);

/**
 * Runs the batch of one period: waits for its file, starts the batch pinned to the file's hash, and follows it to its
 * end. A batch that the period has already, running or ended, is followed and sends nothing.
 *
 * Fails, and so pauses its schedule, where people were not paid and nothing else goes on by itself: no usable file, bad
 * rows, no approval, a batch that was stopped, rows without an order (refused, conflict, not started). It does not fail
 * for orders that exist: what ended `error`, `canceled` or in part is in the report, and parked ones ask for a person
 * themselves. One recipient's closed account must not hold up the next payroll.
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
