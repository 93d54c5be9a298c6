import { setMaxListeners } from 'node:events';
import { cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import { type BatchRow, type BatchSource, orderInputOf, readBatchSource } from '../../batch-files/source.js';
import type { ReportBatchAnswer, ReportBatchInput } from '../../contract/batch/activities.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { recordInterruptions } from '../audit.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure, invalidInput } from '../failures.js';
import { mapInOrder } from '../paced-reads.js';
import { type ReportedRow, ReportFiles } from './report/report-files.js';
import { countRow, noneCounted, readRowEnd } from './report/row-end.js';

const CONCURRENCY = 20;

/** Counts and reports how the order of every row ended, whoever started it; repeating it replaces the files. */
export function reportBatchActivity(deps: ActivityDeps) {
  return async function reportBatch(reported: ReportBatchInput): Promise<ReportBatchAnswer> {
    const { input, plan, tells } = reported;
    try {
      await recordInterruptions(deps, reported);
      const source = await readBatchSource(deps.directories, input, plan);
      return await reportOn(deps, source, { ...reported, input: { ...input, batchId: plan.batchId } });
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
  reported: ReportBatchInput,
): Promise<ReportBatchAnswer> {
  const { reportDir } = directories ?? {};
  const files = reportDir ? await ReportFiles.open(reportDir, reported.plan, source) : undefined;
  const counted = noneCounted();
  let rowsRead = 0;
  // Every call to Temporal listens for the cancellation; Node takes more than 10 of them for a leak.
  setMaxListeners(2 * CONCURRENCY, cancellationSignal());
  try {
    for await (const one of mapInOrder(source.rows(), CONCURRENCY, (row) => readRow(row, reported))) {
      countRow(counted, one.end);
      await files?.add(one);
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

async function readRow(row: BatchRow, { input, taken, startedAt }: ReportBatchInput): Promise<ReportedRow> {
  const checked = validateOrderInput('withdraw', orderInputOf(row, input), { formatChecks: 'warn', started: true });
  // A bad row cannot have passed the plan: this is not the file that was planned.
  if ('errors' in checked) {
    throw invalidInput([{ field: `line ${row.line}`, reason: describeFieldErrors(checked.errors) }]);
  }
  const end = await readRowEnd(getClient(), checked.input, { taken: row.row <= taken, startedAt });
  return { row, request: checked.input.order, end };
}
