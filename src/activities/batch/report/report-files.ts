import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchRow, BatchSource } from '../../../batch-files/source.js';
import type { ReportBatchAnswer } from '../../../contract/batch/activities.js';
import type { BatchPlan } from '../../../contract/batch/batch.js';
import { maskWallet } from '../../../contract/masking.js';
import { type Amount, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import type { Order } from '../../../contract/service-objects.js';
import { type CsvReport, openCsvReport } from '../../../reports/formats.js';
import { inReportDir, ReportWriter } from '../../../reports/report-file.js';
import type { RowEnd } from './row-end.js';

const ORDER_COLUMNS = ['outcome', 'currency', 'network', 'amount', 'amount_to', 'fee', 'wallet', 'reason'] as const;
const COLUMNS = ['line', 'order_id', 'order_uuid', ...ORDER_COLUMNS] as const;

/** A row with its checked order and how that ended. */
export interface ReportedRow {
  row: BatchRow;
  request: WithdrawRequest;
  end: RowEnd;
}

/** Writes the report with every row, wallets masked, and the rejected rows as they stood. */
export class ReportFiles {
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

  async add({ row, request, end }: ReportedRow): Promise<void> {
    await this.csv.add(cellsOf(row, request, end));
    // Conflicts are not among the rejected: their id is taken, and sending the row again cannot change that.
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
    // Those of an earlier run under this id may have been paid since: nobody must send them again.
    if (!rejected) await inReportDir(() => rm(join(this.reportDir, this.rejectedName), { force: true }));
    return { report, ...(rejected && { rejected }) };
  }

  async discard(): Promise<void> {
    await Promise.all([this.csv.discard(), this.#rejected?.discard()]);
  }
}

const cellsOf = ({ line }: BatchRow, request: WithdrawRequest, { outcome, order, reason }: RowEnd) => ({
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
});

/** What the service charged, in the row's currency: both sides of a payout are one currency. */
function feeOf({ amount_from_fee: from, amount_to_fee: to }: Order): Amount | undefined {
  return from === null && to === null ? undefined : toAmount(decimalOrZero(from).plus(decimalOrZero(to)));
}

const walletsOf = ({ wallet, wallet_details: details }: WithdrawRequest): string =>
  (Array.isArray(details) ? details.map((part) => part.wallet) : [wallet]).map(maskWallet).join(' ');

/** Begins the names of a batch's files: unique, because an account holds no dot. */
export const reportName = ({ account, batchId, sha256 }: Pick<BatchPlan, 'account' | 'batchId' | 'sha256'>): string =>
  `${account}.${batchId}.${sha256.slice(0, 8)}`;
