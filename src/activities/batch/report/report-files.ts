import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchRow, BatchSource } from '../../../batch-files/index.js';
import type { ReportBatchAnswer } from '../../../contract/batch/activities.js';
import type { BatchPlan } from '../../../contract/batch/batch.js';
import { maskWallet } from '../../../contract/masking.js';
import { type Amount, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { Order } from '../../../contract/order/order.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import {
  type CsvReport,
  type JsonReport,
  openCsvReport,
  openJsonReport,
  openReport,
  type ReportWriter,
} from '../../../reports/index.js';
import { setEarlierReportAside } from './earlier-report.js';
import { reportName } from './report-name.js';
import type { Counted, RowEnd } from './row-end.js';

const COLUMNS = [
  'line',
  'order_id',
  'order_uuid',
  'outcome',
  'currency',
  'network',
  'amount',
  'amount_to',
  'fee',
  'wallet',
  'reason',
] as const;

type Column = (typeof COLUMNS)[number];

/** A row with its checked order and how that ended. */
export interface ReportedRow {
  row: BatchRow;
  request: WithdrawRequest;
  end: RowEnd;
}

/** Where the files go, whose rows they are about, and how the rejected ones are written. */
interface Place extends Pick<BatchSource, 'format' | 'header'> {
  reportDir: string;
  /** How the names of the files begin. */
  name: string;
  /** Of the batch's file. */
  sha256: string;
}

/**
 * The files of a batch's report: `<account>.<batchId>.report.csv` and `.report.json` with every row, wallets masked, and
 * `<account>.<batchId>.rejected.csv` (or `.ndjson`) with the rows no order exists for, as they stood in the file.
 */
export class ReportFiles {
  readonly #place: Place;
  readonly #csv: CsvReport<Column>;
  readonly #json: JsonReport;
  #rejected?: ReportWriter;

  private constructor(place: Place, csv: CsvReport<Column>, json: JsonReport) {
    this.#place = place;
    this.#csv = csv;
    this.#json = json;
  }

  /** Begins all but the rejected rows, of which there may be none. */
  static async open(
    reportDir: string,
    { batchId, account, sha256, digest }: BatchPlan,
    { format, header }: Pick<BatchSource, 'format' | 'header'>,
  ): Promise<ReportFiles> {
    const name = reportName(account, batchId);
    const csv = await openCsvReport(reportDir, `${name}.report.csv`, COLUMNS);
    const json = await openJsonReport(reportDir, `${name}.report.json`, { account, batchId, sha256, digest });
    return new ReportFiles({ reportDir, name, sha256, format, header }, csv, json);
  }

  async add({ row, request, end }: ReportedRow): Promise<void> {
    const cells = cellsOf(row, request, end);
    await this.#csv.add(cells);
    await this.#json.add(cells);
    // Conflicts are not among the rejected: their id is taken, and sending the row again cannot change that.
    if (end.outcome !== 'refused' && end.outcome !== 'notStarted') return;
    this.#rejected ??= await openRejected(this.#place);
    await this.#rejected.write(`${row.text}\n`);
  }

  /** Puts the files in their places; the JSON names the hashes of the others. */
  async finish(counted: Counted): Promise<Pick<ReportBatchAnswer, 'report' | 'rejected'>> {
    const { reportDir, name, sha256 } = this.#place;
    await setEarlierReportAside(reportDir, name, sha256);
    const report = await this.#csv.finish();
    const rejected = await this.#rejected?.finish();
    // Those of an earlier run under this id may have been paid since: nobody must send them again.
    if (!rejected) await rm(join(reportDir, rejectedName(this.#place)), { force: true });
    await this.#json.finish({ ...counted, files: { report, rejected } });
    return { report, ...(rejected && { rejected }) };
  }

  async discard(): Promise<void> {
    await Promise.all([this.#csv.discard(), this.#json.discard(), this.#rejected?.discard()]);
  }
}

const rejectedName = ({ name, format }: Place): string => `${name}.rejected.${format}`;

async function openRejected(place: Place): Promise<ReportWriter> {
  const rejected = await openReport(place.reportDir, rejectedName(place));
  if (place.header !== undefined) await rejected.write(`${place.header}\n`);
  return rejected;
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
