import type { BatchRow, BatchSource } from '../batch-files/index.js';
import type { BatchOutcomes, BatchPlan, ReportBatchAnswer } from '../contract/batches.js';
import { maskWallet } from '../contract/masking.js';
import { type Amount, decimal, decimalOrZero, toAmount } from '../contract/money.js';
import type { Order, WithdrawRequest } from '../contract/orders.js';
import {
  type CsvReport,
  type JsonReport,
  openCsvReport,
  openJsonReport,
  openReport,
  type ReportWriter,
} from '../reports/index.js';
import type { RowEnd } from './read-row-end.js';

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

/** A row with its order as far as it is known to be valid. */
export interface ReportedRow {
  row: BatchRow;
  request: WithdrawRequest;
  end: RowEnd;
}

/** Counts the ends of a batch's rows and, where there is a REPORT_DIR, writes them down. */
export class BatchReport {
  readonly #outcomes: BatchOutcomes = {
    completed: 0,
    completed_partially: 0,
    canceled: 0,
    error: 0,
    refused: 0,
    conflict: 0,
    parked: 0,
    notStarted: 0,
  };
  readonly #moved = new Map<string, Amount>();
  #started = 0;
  readonly #files: ReportFiles | undefined;

  constructor(files: ReportFiles | undefined) {
    this.#files = files;
  }

  async add(reported: ReportedRow): Promise<void> {
    const { end, request } = reported;
    // Open ones are counted with the parked: for this batch both are orders that a person may want to look after.
    const counted = end.outcome === 'open' || end.outcome === 'unresolved' ? 'parked' : end.outcome;
    this.#outcomes[counted] += 1;
    if (counted !== 'notStarted' && counted !== 'conflict') this.#started += 1;
    const paid = end.order?.amount_to;
    if (paid) {
      const before = decimalOrZero(this.#moved.get(request.currency));
      this.#moved.set(request.currency, toAmount(before.plus(decimal(paid))));
    }
    await this.#files?.add(reported);
  }

  async finish(): Promise<ReportBatchAnswer> {
    const moved = Object.fromEntries([...this.#moved].sort(([a], [b]) => (a < b ? -1 : 1)));
    const counts = { outcomes: this.#outcomes, moved, started: this.#started };
    return { ...counts, ...(await this.#files?.finish(counts)) };
  }
}

/**
 * The files of a batch's report: `<batchId>.report.csv` and `.report.json` with every row, wallets masked, and
 * `<batchId>.rejected.csv` (or `.ndjson`) with the rows no order exists for, as they stood in the file.
 */
export class ReportFiles {
  readonly #csv: CsvReport<(typeof COLUMNS)[number]>;
  readonly #json: JsonReport;
  readonly #openRejected: () => Promise<ReportWriter>;
  #rejected?: ReportWriter;

  private constructor(
    csv: CsvReport<(typeof COLUMNS)[number]>,
    json: JsonReport,
    openRejected: () => Promise<ReportWriter>,
  ) {
    this.#csv = csv;
    this.#json = json;
    this.#openRejected = openRejected;
  }

  static async open(
    reportDir: string,
    { batchId, account, sha256, digest }: BatchPlan,
    source: BatchSource,
  ): Promise<ReportFiles> {
    const csv = await openCsvReport(reportDir, `${batchId}.report.csv`, COLUMNS);
    const json = await openJsonReport(reportDir, `${batchId}.report.json`, { account, batchId, sha256, digest });
    return new ReportFiles(csv, json, async () => {
      const rejected = await openReport(reportDir, `${batchId}.rejected.${source.format}`);
      if (source.header !== undefined) await rejected.write(`${source.header}\n`);
      return rejected;
    });
  }

  async add({ row, request, end }: ReportedRow): Promise<void> {
    const cells = cellsOf(row, request, end);
    await this.#csv.add(cells);
    await this.#json.add(cells);
    // Conflicts are not among them: their id belongs to another order, and resending the row cannot change that.
    if (end.outcome !== 'refused' && end.outcome !== 'notStarted') return;
    this.#rejected ??= await this.#openRejected();
    await this.#rejected.write(`${row.text}\n`);
  }

  async finish(
    counts: Omit<ReportBatchAnswer, 'report' | 'rejected'>,
  ): Promise<Pick<ReportBatchAnswer, 'report' | 'rejected'>> {
    const report = await this.#csv.finish();
    const rejected = await this.#rejected?.finish();
    await this.#json.finish({ ...counts, files: { report, rejected } });
    return { report, ...(rejected && { rejected }) };
  }

  async discard(): Promise<void> {
    await Promise.all([this.#csv.discard(), this.#json.discard(), this.#rejected?.discard()]);
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
