import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { type BatchRow, type BatchSource, orderInputOf, readBatchSource } from '../../batch-files/source.js';
import { ConflictError, FailedError, UnresolvedError } from '../../client/errors.js';
import { OrderHandle } from '../../client/order-handle.js';
import { describeRun, type Standing, standingOf, standingOfFailure, whyUnreadable } from '../../client/standing.js';
import { refuseOtherInput } from '../../client/start-order.js';
import type { ReportBatchAnswer, ReportBatchInput } from '../../contract/batch/activities.js';
import { type BatchPlan, NONE_ENDED } from '../../contract/batch/batch.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { maskName, maskWallet } from '../../contract/masking.js';
import { type Amount, decimalOrZero, toAmount } from '../../contract/money.js';
import { DEFAULT_ACCOUNT, searchAttribute } from '../../contract/names.js';
import type { OrderInput, OrderResult } from '../../contract/order/input-and-result.js';
import type { WithdrawRequest } from '../../contract/order/request.js';
import type { Order } from '../../contract/service-objects.js';
import { type CsvReport, openCsvReport } from '../../reports/formats.js';
import { inReportDir, ReportWriter } from '../../reports/report-file.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { recordInterruptions } from '../audit.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure, invalidInput } from '../failures.js';
import { mapInOrder } from '../paced-reads.js';
import { countRow, isTaken, outcomeOf, type RowEnd, whyUnresolved } from './rows/count.js';

const CONCURRENCY = 20;

/** Counts and reports how each row's order ended. A repetition replaces the files. */
export function reportBatchActivity(deps: ActivityDeps) {
  return async function reportBatch(reported: ReportBatchInput): Promise<ReportBatchAnswer> {
    const { input, plan, tells } = reported;
    try {
      await recordInterruptions(deps, reported);
      const source = await readBatchSource(deps.directories, input, plan);
      return await reportOn(deps, source, { ...reported, input: { ...input, batchId: plan.batchId } });
    } catch (error) {
      // A cancelled call to Temporal looks like an unreachable server.
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
  const counted: ReportBatchAnswer = { outcomes: { ...NONE_ENDED, notStarted: 0 }, moved: {}, started: 0 };
  let rowsRead = 0;
  // Each call to Temporal adds a listener; Node warns of a leak above 10.
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

async function readRow(row: BatchRow, { input, taken, ahead, startedAt }: ReportBatchInput): Promise<ReportedRow> {
  const checked = validateOrderInput('withdraw', orderInputOf(row, input), { formatChecks: 'warn', started: true });
  // The plan refuses bad rows, so this is another file.
  if ('errors' in checked) {
    throw invalidInput([{ field: `line ${row.line}`, reason: describeFieldErrors(checked.errors) }]);
  }
  const end = await readRowEnd(getClient(), checked.input, { taken: isTaken({ taken, ahead }, row.row), startedAt });
  return { row, input: checked.input, end };
}

const ORDER_COLUMNS = [
  'outcome',
  'currency',
  'network',
  'amount',
  'amount_to',
  'fee',
  'wallet',
  'reason',
  'reference',
] as const;
const COLUMNS = ['line', 'order_id', 'order_uuid', ...ORDER_COLUMNS] as const;

interface ReportedRow {
  row: BatchRow;
  input: OrderInput<'withdraw'>;
  end: RowEnd;
}

/** Writes the report of every row with masked wallets, and the rejected rows as they were. */
class ReportFiles {
  #rejected?: ReportWriter;

  private constructor(
    private readonly reportDir: string,
    private readonly rejectedName: string,
    private readonly header: string | undefined,
    private readonly csv: CsvReport<(typeof COLUMNS)[number]>,
  ) {}

  static async open(reportDir: string, plan: BatchPlan, { format, header }: BatchSource): Promise<ReportFiles> {
    const name = reportName(plan);
    const csv = await openCsvReport(reportDir, `${name}.report.csv`, COLUMNS);
    return new ReportFiles(reportDir, `${name}.rejected.${format}`, header, csv);
  }

  async add({ row, input, end }: ReportedRow): Promise<void> {
    await this.csv.add(cellsOf(row, input, end));
    // Conflicts are not rejected: their id is in use, and sending the row again cannot change that.
    if (end.outcome !== 'refused' && end.outcome !== 'notStarted') return;
    if (!this.#rejected) {
      this.#rejected = await ReportWriter.open(this.reportDir, this.rejectedName);
      if (this.header !== undefined) await this.#rejected.write(`${this.header}\n`);
    }
    await this.#rejected.write(`${row.text}\n`);
  }

  async finish(): Promise<Pick<ReportBatchAnswer, 'report' | 'rejected'>> {
    const report = await this.csv.finish();
    const rejected = await this.#rejected?.finish();
    // Rejected rows of an earlier run may have been paid since, so nobody must send them again.
    if (!rejected) await inReportDir(() => rm(join(this.reportDir, this.rejectedName), { force: true }));
    return { report, ...(rejected && { rejected }) };
  }

  async discard(): Promise<void> {
    await Promise.all([this.csv.discard(), this.#rejected?.discard()]);
  }
}

const cellsOf = (
  { line }: BatchRow,
  { order: request, reference }: OrderInput<'withdraw'>,
  { outcome, order, reason }: RowEnd,
) => ({
  line,
  order_id: request.order_id,
  order_uuid: order?.order_uuid,
  outcome,
  currency: request.currency,
  network: request.network,
  amount: request.amount,
  amount_to: order?.amount_to ?? undefined,
  fee: order && feeOf(order),
  wallet: walletsOf(request),
  reason,
  reference,
});

/** Returns the service's charges; both sides of a payout have one currency. */
function feeOf({ amount_from_fee: from, amount_to_fee: to }: Order): Amount | undefined {
  return from === null && to === null ? undefined : toAmount(decimalOrZero(from).plus(decimalOrZero(to)));
}

const walletsOf = ({ wallet, wallet_details: details }: WithdrawRequest): string =>
  (Array.isArray(details) ? details.map((part) => part.wallet) : [wallet]).map(maskWallet).join(' ');

/** Returns the prefix of a batch's files. It is unique, because an account contains no dot. */
export const reportName = ({ account, batchId, sha256 }: Pick<BatchPlan, 'account' | 'batchId' | 'sha256'>): string =>
  `${account}.${batchId}.${sha256.slice(0, 8)}`;

/** Reads how a row's order ended. `taken`: a missing run was deleted. */
async function readRowEnd(
  client: Client,
  input: OrderInput<'withdraw'>,
  { taken, startedAt }: { taken: boolean; startedAt: string },
): Promise<RowEnd> {
  const handle = new OrderHandle(client, input.account ?? DEFAULT_ACCOUNT, input.order.order_id);
  const run = await describeRun(client, handle.workflowId);
  const standing = await standingOf(client, run);
  if (!run || standing.kind === 'notStarted') {
    const reason = `${whyUnresolved({ kind: 'notStarted' })}; the order may exist, look it up at the service`;
    return taken ? { outcome: 'unresolved', reason } : { outcome: 'notStarted' };
  }
  let compared = false;
  const read = async () => {
    await refuseOtherInput(client, 'withdraw', input);
    compared = true;
    if (standing.kind === 'completed') return endOf(standing.result);
    return standing.kind === 'open' ? openEnd(handle, standing) : endOf(await handle.result());
  };
  const end = await read().catch((error: unknown) => {
    const found = endWithoutResult(error, compared ? standing : undefined);
    if (!found) throw error;
    return found;
  });
  // A recovered run of this batch's order names no batch, and is younger.
  const startedBy = run.typedSearchAttributes.get(searchAttribute.batchId);
  const isOlder = run.startTime.getTime() < Date.parse(startedAt);
  return { ...end, ...((isOlder || (startedBy !== undefined && startedBy !== input.batchId)) && { before: true }) };
}

/** Returns the end of an open order. Its workflow says why it waits, if a worker answers. */
async function openEnd(handle: OrderHandle, standing: Standing): Promise<RowEnd> {
  const state = await handle.state().catch(() => undefined);
  return { outcome: outcomeOf(standing), order: state?.order ?? undefined, reason: state?.attention?.reason };
}

const endOf = (result: OrderResult): RowEnd => ({
  outcome: result.outcome,
  order: result.order,
  reason: reasonOf(result) || undefined,
});

function reasonOf({ order, remainder = [], remainderUnknown, compensation }: OrderResult): string {
  return [
    // The service's text may hold anything.
    ...(order.error_message ? [maskName(order.error_message)] : []),
    ...remainder.map(({ kind, amount, currency }) => `${amount} ${currency} ${kind}`),
    ...(remainderUnknown ? [remainderUnknown] : []),
    ...(compensation && compensation.status !== 'none' ? [`compensation ${compensation.status}`] : []),
    ...(compensation?.reason ? [compensation.reason] : []),
  ].join('; ');
}

/**
 * Returns the end that an error shows, also for an unreadable payload; undefined for errors that
 * may pass.
 */
function endWithoutResult(error: unknown, end: Standing | undefined): RowEnd | undefined {
  const reason = error instanceof Error ? error.message : undefined;
  if (error instanceof ConflictError) return { outcome: 'conflict', reason };
  if (error instanceof FailedError) return { outcome: outcomeOf(standingOfFailure(error.type)), reason };
  if (error instanceof UnresolvedError) return { outcome: error.closed ? 'conflict' : 'unresolved', reason };
  const why = whyUnreadable(error);
  if (!why) return undefined;
  // The type of a failure is not encrypted.
  const outcome = end && outcomeOf(end);
  if (outcome === 'refused' || outcome === 'conflict') return { outcome, reason: why };
  return { outcome: 'unresolved', reason: `what became of it cannot be read (${why}); look it up at the service` };
}
