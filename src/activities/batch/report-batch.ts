import { setMaxListeners } from 'node:events';
import { cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import { type BatchRow, type BatchSource, orderInputOf, readBatchSource } from '../../batch-files/source.js';
import type { ReportBatchAnswer, ReportBatchInput } from '../../contract/batch/activities.js';
import type { BatchInput, BatchPlan } from '../../contract/batch/batch.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { recordInterruptions } from '../audit.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure, invalidInput } from '../failures.js';
import { mapInOrder } from '../paced-reads.js';
import { type ReportedRow, ReportFiles } from './report/report-files.js';
import { countRow, noneCounted, readRowEnd } from './report/row-end.js';

/** Rows read from Temporal at the same time. */
const CONCURRENCY = 20;

/** Counts and reports how the order of every row ended, whoever started it; repeating it replaces the files. */
export function reportBatchActivity(deps: ActivityDeps) {
  return async function reportBatch(reported: ReportBatchInput): Promise<ReportBatchAnswer> {
    const { input, plan, taken, startedAt, tells } = reported;
    try {
      await recordInterruptions(deps, reported);
      const source = await readBatchSource(deps.directories, input, plan);
      return await reportOn(deps, source, { ...input, batchId: plan.batchId }, plan, { taken, startedAt });
    } catch (error) {
      // Calls to Temporal that a cancellation broke off look like a server that cannot be reached.
      cancellationSignal().throwIfAborted();
      throw batchFailure(error, tells);
    }
  };
}

async function reportOn(
  { directories }: ActivityDeps,
  source: BatchSource,
  input: BatchInput,
  plan: BatchPlan,
  since: Since,
): Promise<ReportBatchAnswer> {
  const files = directories?.reportDir ? await ReportFiles.open(directories.reportDir, plan, source) : undefined;
  const counted = noneCounted();
  let rowsRead = 0;
  // Every call to Temporal listens for the cancellation; Node takes more than 10 of them for a leak.
  setMaxListeners(2 * CONCURRENCY, cancellationSignal());
  try {
    for await (const reported of mapInOrder(source.rows(), CONCURRENCY, (row) => readRow(row, input, since))) {
      countRow(counted, reported.end);
      await files?.add(reported);
      rowsRead += 1;
      heartbeat({ rowsRead });
      cancellationSignal().throwIfAborted();
    }
    const moved = Object.fromEntries(Object.entries(counted.moved).sort(([a], [b]) => (a < b ? -1 : 1)));
    return { ...counted, moved, ...(await files?.finish()) };
  } finally {
    await files?.discard();
  }
}

type Since = Pick<ReportBatchInput, 'taken' | 'startedAt'>;

async function readRow(row: BatchRow, input: BatchInput, { taken, startedAt }: Since): Promise<ReportedRow> {
  const checked = validateOrderInput('withdraw', orderInputOf(row, input), { formatChecks: 'warn', started: true });
  // A bad row cannot have passed the plan: this is not the file that was planned.
  if ('errors' in checked) {
    throw invalidInput([{ field: `line ${row.line}`, reason: describeFieldErrors(checked.errors) }]);
  }
  const end = await readRowEnd(getClient(), checked.input, { taken: row.row <= taken, startedAt });
  return { row, request: checked.input.order, end };
}
