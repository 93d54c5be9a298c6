import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchRow, BatchSource } from '../../../batch-files/source.js';
import type { Directories } from '../../../config.js';
import type { ReportBatchAnswer } from '../../../contract/batch/activities.js';
import type { BatchInput, BatchPlan } from '../../../contract/batch/batch.js';
import type { FieldError } from '../../../contract/failures.js';
import { maskWallet } from '../../../contract/masking.js';
import { type Amount, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import type { Order } from '../../../contract/service-objects.js';
import { type CsvReport, type JsonReport, openCsvReport, openJsonReport } from '../../../reports/formats.js';
import { inReportDir, ReportWriter } from '../../../reports/report-file.js';
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

/** A row with its checked order and how that ended. */
export interface ReportedRow {
  row: BatchRow;
  request: WithdrawRequest;
  end: RowEnd;
}

/**
 * The files of a batch's report: `<account>.<batchId>.report.csv` and `.report.json` with every row, wallets masked, and
 * `<account>.<batchId>.rejected.csv` (or `.ndjson`) with the rows no order exists for, as they stood in the file.
 */
export class ReportFiles {
  #rejected?: ReportWriter;

  private constructor(
    private readonly reportDir: string,
    private readonly plan: BatchPlan,
    private readonly source: Pick<BatchSource, 'format' | 'header'>,
    private readonly csv: CsvReport<(typeof COLUMNS)[number]>,
    private readonly json: JsonReport,
  ) {}

  /** Begins all but the rejected rows, of which there may be none. */
  static async open(reportDir: string, plan: BatchPlan, source: BatchSource): Promise<ReportFiles> {
    const { batchId, account, sha256, digest } = plan;
    const name = reportName(account, batchId);
    const csv = await openCsvReport(reportDir, `${name}.report.csv`, COLUMNS);
    const json = await openJsonReport(reportDir, `${name}.report.json`, { account, batchId, sha256, digest });
    return new ReportFiles(reportDir, plan, source, csv, json);
  }

  async add({ row, request, end }: ReportedRow): Promise<void> {
    const cells = cellsOf(row, request, end);
    await this.csv.add(cells);
    await this.json.add(cells);
    // Conflicts are not among the rejected: their id is taken, and sending the row again cannot change that.
    if (end.outcome !== 'refused' && end.outcome !== 'notStarted') return;
    const { header } = this.source;
    if (!this.#rejected) {
      this.#rejected = await ReportWriter.open(this.reportDir, this.#rejectedName);
      if (header !== undefined) await this.#rejected.write(`${header}\n`);
    }
    await this.#rejected.write(`${row.text}\n`);
  }

  /** Puts the files in their places; the JSON names the hashes of the others. */
  async finish(counted: Counted): Promise<Pick<ReportBatchAnswer, 'report' | 'rejected'>> {
    const { account, batchId, sha256 } = this.plan;
    await inReportDir(() => setEarlierReportAside(this.reportDir, reportName(account, batchId), sha256));
    const report = await this.csv.finish();
    const rejected = await this.#rejected?.finish();
    // Those of an earlier run under this id may have been paid since: nobody must send them again.
    if (!rejected) await inReportDir(() => rm(join(this.reportDir, this.#rejectedName), { force: true }));
    await this.json.finish({ ...counted, files: { report, rejected } });
    return { report, ...(rejected && { rejected }) };
  }

  async discard(): Promise<void> {
    await Promise.all([this.csv.discard(), this.json.discard(), this.#rejected?.discard()]);
  }

  get #rejectedName(): string {
    return `${reportName(this.plan.account, this.plan.batchId)}.rejected.${this.source.format}`;
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

/** How the names of a batch's files begin. An account has no dot in it, so two accounts never share a name. */
export const reportName = (account: string, batchId: string): string => `${account}.${batchId}`;

const ENDINGS = ['report.csv', 'report.json', 'rejected.csv', 'rejected.ndjson', 'errors.csv'];

/** The error of a batch that reads one of its own reports: this run's report would replace or remove that file. */
export function ownReportProblem(
  { batchDir, reportDir }: Directories = {},
  account: string,
  { file, batchId }: Pick<BatchInput, 'file'> & { batchId: string },
): FieldError[] {
  if (!file || !batchDir || !reportDir) return [];
  // Some file systems take upper and lower case for the same.
  const input = join(batchDir, file.path).toLowerCase();
  const name = ENDINGS.map((ending) => `${reportName(account, batchId)}.${ending}`).find(
    (report) => join(reportDir, report).toLowerCase() === input,
  );
  if (!name) return [];
  const reason = `is ${name}, which this batch writes itself; copy it to another name, or give the batch another id`;
  return [{ field: 'file.path', reason }];
}

/** The hash of the batch's file stands near the beginning of its JSON report. */
const HEAD_BYTES = 2_048;

/**
 * Sets the report of another file aside that was sent under the same batch id: its rows are in no other report. It is
 * kept as `<name>.<first 8 digits of that file's hash>.report.csv` and `.json`. Repeating it changes nothing.
 */
export async function setEarlierReportAside(reportDir: string, name: string, sha256: string): Promise<void> {
  const earlier = /"sha256": "([0-9a-f]{64})"/.exec(await headOf(join(reportDir, `${name}.report.json`)))?.[1];
  if (earlier === undefined || earlier === sha256) return;
  // The JSON last: it tells whose report it is, should this be done in two goes.
  for (const ending of ['report.csv', 'report.json']) {
    const kept = join(reportDir, `${name}.${earlier.slice(0, 8)}.${ending}`);
    await rename(join(reportDir, `${name}.${ending}`), kept).catch(unlessNoFile);
  }
}

async function headOf(file: string): Promise<string> {
  // What is no file of ours is none: a link leads elsewhere, and a named pipe would wait for its writer for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(file, flags).catch(unlessNoFile);
  if (!handle) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unlessNoFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ELOOP') throw error;
}
