import { activityInfo } from '@temporalio/activity';
import type { ReconcileReport } from '../../contract/reconcile/days.js';
import type { ReconcileResult } from '../../contract/reconcile/reconcile.js';
import { openCsvReport, openJsonReport } from '../../reports/formats.js';
import type { ActivityDeps } from '../deps.js';
import { forAccount } from './for-account.js';

const COLUMNS = ['class', 'order_id', 'order_uuid', 'order_type', 'status', 'verdict', 'detail'] as const;

/** Writes the rows and everything found beside them as JSON, and the rows as CSV; nothing without REPORT_DIR. */
export const reportReconcileActivity =
  (deps: ActivityDeps) =>
  (input: ReconcileReport): Promise<Pick<ReconcileResult, 'report' | 'csv'>> =>
    forAccount(deps, { ...input.found, totals: input.found }, async ({ progress }) => {
      progress.step = 'writing the report';
      const reportDir = deps.directories?.reportDir;
      return reportDir === undefined ? {} : writeReports(reportDir, input);
    });

async function writeReports(reportDir: string, { rows, found: { account, from, to, ...found } }: ReconcileReport) {
  const name = reportName(account);
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

/** The same for every attempt, so that one that is begun again replaces the file. */
const reportName = (account: string): string =>
  `reconcile-${account}-${new Date(activityInfo().scheduledTimestampMs).toISOString().replace(/[:.]/g, '-')}`;
