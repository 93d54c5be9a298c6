import { activityInfo, getClient, heartbeat } from '@temporalio/activity';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { resultOfRun } from '../../client/history.js';
import { listRuns } from '../../client/pages.js';
import type { ReconcileWorkflow } from '../../client/reconcile.js';
import { whyUnreadable } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { quoted, RECONCILE_WORKFLOW, searchAttribute } from '../../contract/names.js';
import type {
  BalancesBefore,
  BalancesRead,
  Proof,
  ReconcileBegin,
  ReconcileReport,
} from '../../contract/reconcile/days.js';
import type { CarriedBalance, ReconcileProgress, ReconcileResult } from '../../contract/reconcile/reconcile.js';
import type { Balances } from '../../contract/service-objects.js';
import { PaymentServiceError } from '../../payment-service/errors.js';
import { openJsonReport } from '../../reports/formats.js';
import { writeBook } from '../books.js';
import type { Account, ActivityDeps } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { PacedReads } from '../paced-reads.js';
import { protectionsIn } from '../protections.js';
import { prove } from './prove.js';

const HEARTBEAT_EVERY_MS = 2_000;
/** Earlier runs to inspect, newest first. Older versions and lost keys carry nothing. */
const RUNS_LOOKED_AT = 20;
/** Pause before a second reading, in which delayed data arrives and the second changes. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [2_000, 30_000];

/** Runs a step of a reconciliation at its account and heartbeats its progress. */
export async function forAccount<T>(
  deps: ActivityDeps,
  name: string,
  { step, seen, windows }: ReconcileProgress,
  act: (tools: { account: Account; reads: PacedReads; progress: ReconcileProgress }) => Promise<T>,
): Promise<T> {
  const account = deps.accounts.get(name);
  // All workers share the queue: another one may serve the account.
  if (!account) throw noReading(`this worker does not serve the account ${name}; another one has to`);
  const progress = { step, seen, windows };
  const show = () => heartbeat({ ...progress });
  // A quiet day ends before the first interval.
  show();
  const beat = setInterval(show, HEARTBEAT_EVERY_MS);
  try {
    return await act({ account, reads: new PacedReads(account), progress });
  } catch (error) {
    throw retryLater(error);
  } finally {
    clearInterval(beat);
  }
}

/** Reads the balances before the orders, and those that an earlier run carried over. */
export const readBalancesActivity =
  (deps: ActivityDeps) =>
  ({ account, atMs, totals }: ReconcileBegin): Promise<BalancesBefore> =>
    forAccount(deps, account, { ...totals, step: 'reading balances' }, async ({ reads }) => {
      const before = await balancesNow(reads);
      return { carried: await carriedBalances(getClient(), account, atMs), ...(before && { before }) };
    });

/** Reads the balances after the orders and compares everything. */
export const proveBalancesActivity =
  (deps: ActivityDeps) =>
  (input: BalancesRead): Promise<Proof> =>
    forAccount(deps, input.account, { ...input.totals, step: 'comparing balances' }, async ({ account, reads }) => {
      const { confirmDelayMs } = protectionsIn(deps, account).pace;
      const againMs = Math.min(Math.max(confirmDelayMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
      return { ...prove(input, await balancesNow(reads)), againMs };
    });

/** Returns the balances; without an answer, they are not compared. */
async function balancesNow(reads: PacedReads): Promise<Balances | undefined> {
  try {
    return await reads.ask((service, options) => service.balances(options));
  } catch (error) {
    if (error instanceof PaymentServiceError) return undefined;
    throw error;
  }
}

/** Returns what the last earlier reconciliation carried over; empty without one. */
async function carriedBalances(client: Client, account: string, beforeMs: number): Promise<CarriedBalance[]> {
  const query = [
    `WorkflowType = ${quoted(RECONCILE_WORKFLOW)}`,
    `${searchAttribute.account.name} = ${quoted(account)}`,
    "ExecutionStatus = 'Completed'",
    `CloseTime <= '${new Date(beforeMs).toISOString()}'`,
  ].join(' AND ');
  // Temporal lists the run that closed last first.
  const { runs } = await callTemporal(client, () => listRuns(client, { query, pageSize: RUNS_LOOKED_AT }));
  for (const { workflowId, runId } of runs) {
    const left = await callTemporal(client, () => resultOfRun<ReconcileWorkflow>(client, workflowId, runId)).catch(
      ifGone,
    );
    if (left?.balances) return left.balances;
  }
  return [];
}

/** Returns undefined for a run that was deleted or reset, or is unreadable here. */
function ifGone(error: unknown): undefined {
  const isGone = error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError;
  if (!isGone && whyUnreadable(error) === undefined) throw error;
}

/**
 * Writes the report as JSON, and the book of the last day that is over as CSV; nothing without
 * REPORT_DIR.
 */
export const reportReconcileActivity =
  (deps: ActivityDeps) =>
  ({
    rows,
    found: { account, from, to, ...found },
  }: ReconcileReport): Promise<Pick<ReconcileResult, 'report' | 'book'>> =>
    forAccount(deps, account, { ...found, step: 'writing the report' }, async ({ account: of, reads, progress }) => {
      const reportDir = deps.directories?.reportDir;
      if (reportDir === undefined) return {};
      // Equal in all attempts, so that a repeated one replaces the file.
      const time = new Date(activityInfo().scheduledTimestampMs).toISOString().replace(/[:.]/g, '-');
      const json = await openJsonReport(reportDir, `reconcile-${account}-${time}.json`, { account, from, to });
      try {
        for (const row of rows) await json.add(row);
        const report = await json.finish(found);
        progress.step = 'writing the book of the day before';
        const beforeMs = Math.min(Date.parse(to), activityInfo().scheduledTimestampMs);
        return { report, book: await writeBook({ ...of, name: account }, reads, { reportDir, beforeMs }) };
      } finally {
        await json.discard();
      }
    });
