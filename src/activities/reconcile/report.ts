import type { ReportFile } from '../../contract/batch/batch.js';
import type { ReconcileResult, ReconcileRow } from '../../contract/reconcile/reconcile.js';
import { openCsvReport, openJsonReport } from '../../reports/index.js';

const COLUMNS = ['class', 'order_id', 'order_uuid', 'order_type', 'status', 'verdict', 'detail'] as const;

/** Writes the rows and everything found beside them as JSON, and the rows as CSV. */
export async function writeReports(
  reportDir: string,
  name: string,
  rows: readonly ReconcileRow[],
  result: Omit<ReconcileResult, 'disagreements'>,
): Promise<{ report: ReportFile; csv: ReportFile }> {
  const { account, from, to, ...found } = result;
  const json = await openJsonReport(reportDir, `${name}.json`, { account, from, to });
  const csv = await openCsvReport(reportDir, `${name}.csv`, COLUMNS);
  try {
    for (const row of rows) {
      await json.add(row);
      await csv.add({ ...row });
    }
    return { report: await json.finish(found), csv: await csv.finish() };
  } finally {
    await json.discard();
    await csv.discard();
  }
}
